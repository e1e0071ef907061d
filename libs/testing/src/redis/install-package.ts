import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { runCommand } from '../run-command.js';

/** Debian asks this script before it starts a service; exit code 101 means "not allowed". */
const POLICY_FILE = '/usr/sbin/policy-rc.d';
const APT_ENV = { DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' };
const APT_TIMEOUT_MS = 4 * 60_000;

/**
 * Installs Debian's redis-server as root. Its service is neither started nor left enabled: the tests start servers of their own.
 * @throws Error with what apt-get printed.
 */
export async function installRedisPackage(): Promise<void> {
  const hadPolicy = existsSync(POLICY_FILE);
  if (!hadPolicy) writeFileSync(POLICY_FILE, '#!/bin/sh\nexit 101\n', { mode: 0o755 });
  try {
    // A failing update is no reason to stop: the lists at hand may do.
    await aptGet('update');
    const installed = await aptGet('install', '-y', '--no-install-recommends', 'redis-server');
    if (!installed.ok) throw new Error(`apt-get install redis-server failed:\n${installed.output}`);
  } finally {
    if (!hadPolicy) rmSync(POLICY_FILE, { force: true });
  }
  await stopService();
}

function aptGet(...args: readonly string[]) {
  return runCommand('apt-get', ['-q', '-o', 'DPkg::Lock::Timeout=120', ...args], APT_TIMEOUT_MS, APT_ENV);
}

/** The service of the package just installed, should it run in spite of the policy. */
async function stopService(): Promise<void> {
  if (existsSync('/run/systemd/system')) await runCommand('systemctl', ['disable', '--now', 'redis-server'], 30_000);
  else if (existsSync('/run/redis/redis-server.pid')) await runCommand('service', ['redis-server', 'stop'], 30_000);
}

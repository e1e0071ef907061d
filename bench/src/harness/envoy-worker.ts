import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { waitFor } from '#libs/testing';
import { envoyConfig } from './envoy-config.js';

interface Listeners {
  readonly listener_statuses: readonly { readonly local_address: { readonly socket_address: { readonly port_value: number } } }[];
}

/** Run as a process: `envoy-worker.js BINARY BACKEND-PORT`; tells Envoy's process and port, and takes Envoy along when its parent goes. */
const [, , binary = '', backendPort] = process.argv;
const folder = mkdtempSync(join(tmpdir(), 'esclusa-bench-envoy-'));
const [config, adminAddress] = [join(folder, 'envoy.json'), join(folder, 'admin')];
writeFileSync(config, JSON.stringify(envoyConfig(Number(backendPort))));
const once = ['--concurrency', '1', '--use-dynamic-base-id', '--disable-hot-restart', '-l', 'error'];
const envoy = spawn(binary, ['-c', config, '--admin-address-path', adminAddress, ...once], { stdio: 'inherit' });
const end = (code: number): void => {
  rmSync(folder, { recursive: true, force: true });
  process.exit(code);
};
envoy.once('error', () => {
  end(1);
});
envoy.once('exit', () => {
  end(process.connected ? 1 : 0);
});
process.once('disconnect', () => envoy.kill('SIGKILL'));

const admin = await waitFor(() => readFileSync(adminAddress, 'utf8'), { what: "Envoy's admin address" });
await waitFor(async () => (await fetch(`http://${admin}/ready`)).ok, { what: 'Envoy' });
const { listener_statuses } = (await (await fetch(`http://${admin}/listeners?format=json`)).json()) as Listeners;
process.send?.({ pid: envoy.pid, port: listener_statuses[0]?.local_address.socket_address.port_value });

import { spawn } from 'node:child_process';
import { Socket } from 'node:net';
import type { Stream } from 'node:stream';

/**
 * Sees to it that something ends when this process does, however it does (SIGKILL too, where no exit handler runs): a small shell
 * holds the other end of a pipe and runs the command when the pipe breaks.
 *
 * The shell is in a session of its own, so that Ctrl-C does not take it along, and keeps neither process from exiting.
 * @param command run without a shell's expansion, e.g. `['kill', '-KILL', '4711']`.
 * @returns to be called once the thing has ended by itself; calling it again does nothing.
 */
export function runWhenThisProcessEnds(command: readonly string[]): () => void {
  const script = 'read -r _ || "$@"';
  const guard = spawn('/bin/sh', ['-c', script, 'reaper', ...command], { detached: true, stdio: ['pipe', 'ignore', 'ignore'] });
  guard.unref();
  unrefPipe(guard.stdin);
  guard.stdin.on('error', () => undefined);
  guard.on('error', () => undefined);
  return () => {
    if (!guard.stdin.writableEnded) guard.stdin.end('ended\n');
  };
}

/** Lets this process end while the pipe of a child process is open. Such pipes are sockets, but typed as plain streams. */
export function unrefPipe(pipe: Stream): void {
  if (pipe instanceof Socket) pipe.unref();
}

import {
  closeSync,
  existsSync,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsyncSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  type Stats,
} from 'node:fs';
import { types } from 'node:util';

/**
 * Changes a small file so that readers see the old text or the new one, whole. One writer at a time: the draft beside the file is the lock.
 * The file behind a symbolic link is changed, not the link; mode and owner stay; a new file is its owner's alone.
 * @param change gets undefined where there is no file; returns undefined to leave everything as it is
 * @throws Error of the file system, or saying that another writer is at work
 */
export function rewriteFile(path: string, change: (text: string | undefined) => string | undefined): void {
  const file = existsSync(path) ? realpathSync(path) : path;
  const draft = `${file}.draft`;
  const handle = openAlone(draft);
  let renamed = false;
  try {
    const before = statSync(file, { throwIfNoEntry: false });
    const text = change(before === undefined ? undefined : readFileSync(file, 'utf8'));
    if (text === undefined) return;
    writeFileSync(handle, text);
    if (before !== undefined) keepAccess(handle, before);
    fsyncSync(handle);
    renameSync(draft, file);
    renamed = true;
  } finally {
    closeSync(handle);
    if (!renamed) rmSync(draft, { force: true });
  }
}

function openAlone(draft: string): number {
  try {
    return openSync(draft, 'wx', 0o600);
  } catch (error) {
    if (!(types.isNativeError(error) && 'code' in error && error.code === 'EEXIST')) throw error;
    throw new Error(`${draft} exists: another command is changing the file; if none is, remove it`, { cause: error });
  }
}

/** Who could read the file still can: a command run by root must not take it from the gateway. */
function keepAccess(handle: number, { mode, uid, gid }: Stats): void {
  const own = fstatSync(handle);
  if (own.uid !== uid || own.gid !== gid) fchownSync(handle, uid, gid);
  fchmodSync(handle, mode & 0o777);
}

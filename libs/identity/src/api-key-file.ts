import 'reflect-metadata';
import { plainToInstance, Type } from 'class-transformer';
import {
  Equals,
  IsArray,
  IsOptional,
  IsString,
  Matches,
  MinLength,
  ValidateNested,
  validateSync,
  type ValidationError,
} from 'class-validator';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { isSeq, parseDocument } from 'yaml';

/** A key as it is stored: whose it is, and its digest. */
export interface ApiKeyEntry {
  readonly id: string;
  readonly digest: string;
  readonly tenant: string;
  readonly user?: string;
  readonly createdAt: string;
}

class ApiKeyRecord implements ApiKeyEntry {
  @Matches(/^k_[0-9a-f]{12}$/, { message: 'k_ and 12 hex digits' })
  readonly id!: string;

  @Matches(/^[0-9a-f]{64}$/, { message: '64 hex digits: a digest, never a key' })
  readonly digest!: string;

  @IsString({ message: 'the name of a tenant' })
  @MinLength(1, { message: 'the name of a tenant' })
  readonly tenant!: string;

  @IsOptional()
  @IsString({ message: 'the name of a user' })
  @MinLength(1, { message: 'the name of a user' })
  readonly user?: string;

  @IsString({ message: 'when it was created' })
  readonly createdAt!: string;
}

class ApiKeyFile {
  @Equals(1, { message: '1' })
  readonly version!: 1;

  @IsArray({ message: 'a list of keys, which may be empty' })
  @ValidateNested({ each: true, message: 'a mapping with id, digest, tenant, createdAt' })
  @Type(() => ApiKeyRecord)
  readonly keys!: ApiKeyRecord[];
}

/** The key file cannot be used; the message names the file, the place in it and what is allowed, never what was found. */
export class KeyFileError extends Error {
  override readonly name = 'KeyFileError';
}

/** @throws KeyFileError */
export function parseKeyFile(file: string, text: string): readonly ApiKeyEntry[] {
  const document = parseDocument(text);
  const [syntax] = document.errors;
  if (syntax !== undefined) throw new KeyFileError(`${file}: ${syntax.message.split('\n', 1)[0] ?? 'no YAML'}`);
  const content: unknown = document.toJS();
  if (typeof content !== 'object' || content === null || Array.isArray(content)) {
    throw new KeyFileError(`${file}: allowed: a mapping with version and keys`);
  }
  const parsed = plainToInstance(ApiKeyFile, content);
  const [problem] = describe(validateSync(parsed, { whitelist: true, forbidNonWhitelisted: true }), '');
  if (problem !== undefined) throw new KeyFileError(`${file}: ${problem}`);
  return parsed.keys;
}

/** Adds a key; the file is made if there is none, and its comments stay. Atomic: readers see the old file or the new one. */
export function appendApiKey(file: string, entry: ApiKeyEntry): void {
  const text = existsSync(file) ? readFileSync(file, 'utf8') : 'version: 1\nkeys: []\n';
  parseKeyFile(file, text);
  const document = parseDocument(text);
  const keys = document.get('keys');
  if (isSeq(keys)) keys.flow = false;
  document.addIn(['keys'], document.createNode(entry));
  replace(file, document.toString());
}

/** Takes a key out, which revokes it. @returns whether it was there */
export function removeApiKey(file: string, id: string): boolean {
  const text = readFileSync(file, 'utf8');
  const index = parseKeyFile(file, text).findIndex((entry) => entry.id === id);
  if (index < 0) return false;
  const document = parseDocument(text);
  document.deleteIn(['keys', index]);
  replace(file, document.toString());
  return true;
}

function replace(file: string, text: string): void {
  const next = `${file}.${process.pid}.new`;
  writeFileSync(next, text, { mode: 0o600 });
  renameSync(next, file);
}

function describe(errors: readonly ValidationError[], at: string): string[] {
  return errors.flatMap((error) => {
    const path = /^\d+$/.test(error.property) ? `${at}[${error.property}]` : at === '' ? error.property : `${at}.${error.property}`;
    const own = Object.values(error.constraints ?? {}).map((message) => `${path}: allowed: ${message}`);
    return [...own, ...describe(error.children ?? [], path)];
  });
}

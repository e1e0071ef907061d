import 'reflect-metadata';
import { plainToInstance, Type } from 'class-transformer';
import {
  Equals,
  IsArray,
  IsObject,
  IsOptional,
  IsString,
  Matches,
  MinLength,
  ValidateNested,
  validateSync,
  type ValidationError,
} from 'class-validator';
import { parseDocument } from 'yaml';
import { apiKeyId } from './api-key.js';

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
  @IsObject({ each: true, message: 'a list of mappings with id, digest, tenant, createdAt' })
  @ValidateNested({ each: true, message: 'a mapping with id, digest, tenant, createdAt' })
  @Type(() => ApiKeyRecord)
  readonly keys!: ApiKeyRecord[];
}

/** The key file cannot be used; the message names the file, the place in it and what is allowed, never what was found: it may be a key. */
export class KeyFileError extends Error {
  override readonly name = 'KeyFileError';
}

/** @throws KeyFileError */
export function parseKeyFile(file: string, text: string): readonly ApiKeyEntry[] {
  const content = readYaml(file, text);
  if (typeof content !== 'object' || content === null || Array.isArray(content)) {
    throw new KeyFileError(`${file}: allowed: a mapping with version and keys`);
  }
  const parsed = plainToInstance(ApiKeyFile, content);
  const [problem] = describe(validateSync(parsed, { whitelist: true, forbidNonWhitelisted: true }), '');
  const wrong = problem ?? inconsistency(parsed.keys);
  if (wrong !== undefined) throw new KeyFileError(`${file}: ${wrong}`);
  return parsed.keys;
}

/** The parser's own messages quote what they met. */
function readYaml(file: string, text: string): unknown {
  const document = parseDocument(text);
  const [syntax] = document.errors;
  if (syntax !== undefined) {
    const at = syntax.linePos?.[0];
    throw new KeyFileError(`${file}:${at === undefined ? '' : `${at.line}:${at.col}:`} allowed: YAML (${syntax.code})`);
  }
  try {
    return document.toJS();
  } catch {
    // An alias without an anchor, or too many of them.
    throw new KeyFileError(`${file}: allowed: YAML without aliases`);
  }
}

/** Revoking goes by id, looking up by digest: both must mean one and the same entry. */
function inconsistency(keys: readonly ApiKeyEntry[]): string | undefined {
  const ids = new Set<string>();
  for (const [i, { id, digest }] of keys.entries()) {
    if (id !== apiKeyId(digest)) return `keys[${i}].id: allowed: k_ and the first 12 digits of the digest`;
    if (ids.has(id)) return `keys[${i}]: allowed: each key once`;
    ids.add(id);
  }
  return undefined;
}

function describe(errors: readonly ValidationError[], at: string): string[] {
  return errors.flatMap((error) => {
    const path = /^\d+$/.test(error.property) ? `${at}[${error.property}]` : at === '' ? error.property : `${at}.${error.property}`;
    const own = Object.values(error.constraints ?? {}).map((message) => `${path}: allowed: ${message}`);
    return [...own, ...describe(error.children ?? [], path)];
  });
}

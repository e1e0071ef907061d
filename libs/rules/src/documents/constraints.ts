import { IsInt, IsNumber, IsOptional, Matches, Max, Min, ValidateBy, type ValidationOptions } from 'class-validator';
import { SchemaPart } from './schema-part.js';
import ipaddr from 'ipaddr.js';
import { isIP } from 'node:net';

type Class = new () => object;

/** A mapping of free names to options of one class; read by `readDocument`, which makes it a Map. */
export interface RecordShape {
  readonly of: () => Class;
  readonly names: RegExp;
  readonly namesAllowed: string;
}

const FIELD_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}$/;
/** Fields that mean something to HTTP or to the edge itself: a credential could not be told apart in them. */
const TAKEN_FIELD =
  /^(authorization|connection|content-.*|cookie|expect|forwarded|host|keep-alive|origin|te|trailer|traceparent|transfer-encoding|upgrade|via|proxy-.*|x-esclusa-.*|x-forwarded-.*|x-request-id)$/i;
const URL_PATTERN = /^https?:\/\/\S+$/;
const ORIGIN = 'http://host[:port] or https://host[:port], without path, query or credentials';
const ORIGIN_PATTERN = /^https?:\/\/[^\/?#@\\\s]+\/?$/;
/** As URL writes it: URLs may have more in their hosts than names and addresses. */
const ORIGIN_HOST = /^[a-z0-9._-]+$|^\[/;

const RECORD = Symbol('record');

export function recordShapes(prototype: object): ReadonlyMap<string, RecordShape> {
  return (Reflect.getMetadata(RECORD, prototype) as Map<string, RecordShape> | undefined) ?? new Map<string, RecordShape>();
}

export function IsRecordOf(of: () => Class, names: RegExp, namesAllowed: string): PropertyDecorator {
  return (prototype, property) => {
    Reflect.defineMetadata(RECORD, new Map([...recordShapes(prototype), [String(property), { of, names, namesAllowed }]]), prototype);
    ValidateBy({ name: 'isRecord', validator: { validate: isPlainMapping, defaultMessage: () => 'a mapping' } })(prototype, property);
    SchemaPart({ type: 'object', propertyNames: { pattern: names.source }, additionalProperties: { $ref: `#/definitions/${of().name}` } })(
      prototype,
      property,
    );
  };
}

/** E.g. `open, closed or local`. */
export function oneOf(names: readonly string[]): string {
  return `${names.slice(0, -1).join(', ')} or ${names.at(-1) ?? ''}`;
}

/** A part of the format that this version refuses, whatever it holds. */
export function LaterVersion(why: string): PropertyDecorator {
  return (prototype, property) => {
    IsOptional()(prototype, property);
    ValidateBy({ name: 'laterVersion', validator: { validate: () => false, defaultMessage: () => `nothing: ${why}` } })(
      prototype,
      property,
    );
    SchemaPart({ not: {}, description: why })(prototype, property);
  };
}

/** A whole number between two others, both allowed. */
export function WholeNumber(min: number, max: number, what = 'a whole number'): PropertyDecorator {
  const message = `${what}, ${min} to ${max}`;
  return (prototype, property) => {
    for (const rule of [IsInt({ message }), Min(min, { message }), Max(max, { message })]) rule(prototype, property);
  };
}

/** A number from 0 to 1. */
export function IsShare(what: string): PropertyDecorator {
  const message = `${what}, 0 to 1`;
  return (prototype, property) => {
    for (const rule of [IsNumber({}, { message }), Min(0, { message }), Max(1, { message })]) rule(prototype, property);
  };
}

/** A field whose whole value is a credential. */
export function IsCredentialField(): PropertyDecorator {
  const message = 'an HTTP field name without another meaning, such as x-api-key';
  const validate = (value: unknown): boolean => typeof value !== 'string' || !TAKEN_FIELD.test(value);
  return (prototype, property) => {
    Matches(FIELD_NAME, { message })(prototype, property);
    ValidateBy({ name: 'isCredentialField', validator: { validate, defaultMessage: () => message } })(prototype, property);
  };
}

export function IsCidr(options: ValidationOptions): PropertyDecorator {
  const message = 'an address such as 10.0.0.1 or a CIDR such as 10.0.0.0/8';
  return ValidateBy({ name: 'isCidr', validator: { validate: isCidr, defaultMessage: () => message } }, { ...options, message });
}

export function IsHttpUrl(): PropertyDecorator {
  return isText('isHttpUrl', isHttpUrl, URL_PATTERN, 'an http or https URL');
}

/** @param each the field is a list of them */
export function IsHttpOrigin({ each = false } = {}): PropertyDecorator {
  return isText('isHttpOrigin', isHttpOrigin, ORIGIN_PATTERN, ORIGIN, each);
}

function isText(name: string, validate: (value: unknown) => boolean, pattern: RegExp, allowed: string, each = false): PropertyDecorator {
  const schema = { type: 'string', pattern: pattern.source, description: allowed };
  return (prototype, property) => {
    ValidateBy({ name, validator: { validate, defaultMessage: () => allowed } }, { each })(prototype, property);
    SchemaPart(each ? { type: 'array', items: schema, uniqueItems: true } : schema)(prototype, property);
  };
}

export function isPlainMapping(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isCidr(value: unknown): boolean {
  if (typeof value !== 'string') return false;
  const [address = '', ...rest] = value.split('/');
  if (isIP(address) === 0) return false;
  return rest.length === 0 || (rest.length === 1 && ipaddr.isValidCIDR(value));
}

function isHttpUrl(value: unknown): boolean {
  return typeof value === 'string' && URL_PATTERN.test(value) && URL.canParse(value);
}

function isHttpOrigin(value: unknown): boolean {
  if (!isHttpUrl(value) || !ORIGIN_PATTERN.test(String(value))) return false;
  const { hostname, port } = new URL(String(value));
  return ORIGIN_HOST.test(hostname) && port !== '0';
}

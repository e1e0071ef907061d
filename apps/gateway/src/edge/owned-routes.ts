import { RequestMethod, VERSION_NEUTRAL, type Type } from '@nestjs/common';
import { METHOD_METADATA, PATH_METADATA, VERSION_METADATA } from '@nestjs/common/constants.js';
import { MetadataScanner } from '@nestjs/core';
import { NOT_FORWARDED, type Criticality, type FailureMode, type OwnedPolicy, type OwnedRoute, type Skip } from '#libs/rules';
import { EDGE_METADATA, type CostOf } from '../decorators/admission.decorators.js';

/** A handler of a controller that the edge owns, as its decorators describe it. */
export interface OwnedHandler extends OwnedRoute {
  readonly costOf: CostOf;
}

/** By controller class, then by handler: controllers may share a name, a method or a base class. */
export type OwnedHandlers = ReadonlyMap<Type, ReadonlyMap<object, OwnedHandler>>;

const scanner = new MetadataScanner();

/** Reads the decorators of every handler of these controllers. Each handler becomes a route named `METHOD path`. */
export function readOwnedHandlers(controllers: readonly Type[]): OwnedHandlers {
  return new Map(controllers.map((controller) => [controller, handlersOf(controller)]));
}

function handlersOf(controller: Type): ReadonlyMap<object, OwnedHandler> {
  const prototype = controller.prototype as Record<string, object>;
  const handlers = scanner
    .getAllMethodNames(prototype)
    .map((name) => prototype[name])
    .filter((handler) => handler !== undefined && Reflect.hasMetadata(METHOD_METADATA, handler)) as object[];
  return new Map(handlers.map((handler) => [handler, readHandler(controller, handler)]));
}

function readHandler(controller: Type, handler: object): OwnedHandler {
  const get = (key: string | symbol): unknown => Reflect.getMetadata(key, handler) ?? Reflect.getMetadata(key, controller);
  const method = RequestMethod[Reflect.getMetadata(METHOD_METADATA, handler) as RequestMethod];
  const path = joinPaths(firstPath(controller), firstPath(handler));
  const costOf = (get(EDGE_METADATA.cost) as CostOf | undefined) ?? 1;
  return {
    route: {
      name: `${method}${versionOf(get(VERSION_METADATA) as Version)} ${path}`,
      methods: method === 'ALL' ? undefined : [method],
      path,
      criticality: (get(EDGE_METADATA.criticality) as Criticality | undefined) ?? 'sheddable',
      failureMode: (get(EDGE_METADATA.failureMode) as FailureMode | undefined) ?? 'open',
      cost: typeof costOf === 'number' ? costOf : 1,
      auth: 'optional',
      ...NOT_FORWARDED,
    },
    policies: mergePolicies(policiesAt(controller), policiesAt(handler)),
    skip: get(EDGE_METADATA.skip) as Skip | undefined,
    costOf,
  };
}

function policiesAt(holder: object): readonly OwnedPolicy[] {
  return (Reflect.getMetadata(EDGE_METADATA.rateLimits, holder) as readonly OwnedPolicy[] | undefined) ?? [];
}

/** A method's policy replaces its class's of the same name; others add up. */
function mergePolicies(ofClass: readonly OwnedPolicy[], ofMethod: readonly OwnedPolicy[]): readonly OwnedPolicy[] {
  const replaced = new Set(ofMethod.map((policy) => policy.name));
  return [...ofClass.filter((policy) => !replaced.has(policy.name)), ...ofMethod];
}

function firstPath(holder: object): string {
  const path = Reflect.getMetadata(PATH_METADATA, holder) as string | string[] | undefined;
  return (Array.isArray(path) ? path[0] : path) ?? '';
}

function joinPaths(...parts: readonly string[]): string {
  return `/${parts
    .flatMap((part) => part.split('/'))
    .filter(Boolean)
    .join('/')}`;
}

type Version = string | readonly string[] | symbol | undefined;

function versionOf(version: Version): string {
  if (version === undefined || version === VERSION_NEUTRAL) return '';
  return `@v${Array.isArray(version) ? version.join(',') : String(version)}`;
}

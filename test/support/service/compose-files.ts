import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

/** The members of a compose service that tests check. */
export interface ComposeService {
  readonly image?: string;
  readonly user?: string;
  readonly privileged?: boolean;
  readonly read_only?: boolean;
  readonly restart?: string;
  readonly mem_limit?: string;
  readonly cap_drop?: ReadonlyArray<string>;
  readonly ports?: ReadonlyArray<string>;
  readonly volumes?: ReadonlyArray<string>;
  readonly environment?: Readonly<Record<string, string>>;
  readonly stop_grace_period?: string;
  readonly extends?: { readonly file: string; readonly service: string };
}

type Services = Readonly<Record<string, ComposeService>>;

/** Removes what an earlier file defines. */
const reset = { tag: '!reset', collection: 'seq' as const, resolve: () => [] };

/** Reads the services of a file, with those that they extend merged in. */
function servicesOf(file: string): Services {
  const { services } = parse(readFileSync(file, 'utf8'), { merge: true, customTags: [reset] }) as {
    services: Services;
  };
  return Object.fromEntries(Object.entries(services).map(([name, service]) => [name, extended(service)]));
}

/** Merges as Compose does: a repeated member replaces the earlier one, and the environment is merged by name. */
function extended(service: ComposeService): ComposeService {
  if (service.extends === undefined) return service;
  const base = servicesOf(service.extends.file)[service.extends.service];
  assert.ok(base !== undefined, `${service.extends.service} in ${service.extends.file}`);
  return { ...base, ...service, environment: { ...base.environment, ...service.environment } };
}

/** The services of `docker-compose.yml`. */
export const base = servicesOf('docker-compose.yml');

/** The services that `docker-compose.scale.yml` adds or changes. */
export const further = servicesOf('docker-compose.scale.yml');

/** The services of both files, with their names. */
export const services: ReadonlyArray<readonly [string, ComposeService]> = [
  ...Object.entries(base),
  ...Object.entries(further).filter(([name]) => !(name in base)),
];

/** The services that run Switchyard. */
export const nodes = services.filter(([, { image }]) => image?.startsWith('switchyard:'));

/** Returns a service's environment, with the defaults of variables that are not set. */
export function environmentOf({ environment = {} }: ComposeService): Record<string, string> {
  return Object.fromEntries(
    Object.entries(environment).map(([name, value]) => [name, String(value).replace(/\$\{\w+:-([^}]*)\}/g, '$1')]),
  );
}

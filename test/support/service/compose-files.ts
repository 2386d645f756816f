import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

/** What a service of a compose file says, as far as tests look at it. */
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

/** Takes away what an earlier file said. */
const reset = { tag: '!reset', collection: 'seq' as const, resolve: () => [] };

/** One file's services, with what they extend. */
function servicesOf(file: string): Services {
  const { services } = parse(readFileSync(file, 'utf8'), { merge: true, customTags: [reset] }) as {
    services: Services;
  };
  return Object.fromEntries(Object.entries(services).map(([name, service]) => [name, extended(service)]));
}

/** As Compose does: what is said again replaces, the environment name by name. */
function extended(service: ComposeService): ComposeService {
  if (service.extends === undefined) return service;
  const base = servicesOf(service.extends.file)[service.extends.service];
  assert.ok(base !== undefined, `${service.extends.service} in ${service.extends.file}`);
  return { ...base, ...service, environment: { ...base.environment, ...service.environment } };
}

/** The services of `docker-compose.yml`. */
export const base = servicesOf('docker-compose.yml');

/** Those that `docker-compose.scale.yml` adds or changes. */
export const further = servicesOf('docker-compose.scale.yml');

/** All of both, with their names. */
export const services: ReadonlyArray<readonly [string, ComposeService]> = [
  ...Object.entries(base),
  ...Object.entries(further).filter(([name]) => !(name in base)),
];

/** Those of them that are Switchyard. */
export const nodes = services.filter(([, { image }]) => image?.startsWith('switchyard:'));

/** A service's environment, as Compose fills it in where nothing is set. */
export function environmentOf({ environment = {} }: ComposeService): Record<string, string> {
  return Object.fromEntries(
    Object.entries(environment).map(([name, value]) => [name, String(value).replace(/\$\{\w+:-([^}]*)\}/g, '$1')]),
  );
}

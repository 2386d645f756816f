import type { Config } from '#app/config.ts';

const maxModels = 20;

export interface StartDescription {
  readonly version: string;
  readonly roles: ReadonlyArray<string>;
  readonly eventStore: string;
  readonly readStore: string;
  readonly blobStore: string;
  /** The models of the gateway; none on a node without a gateway. */
  readonly models: ReadonlyArray<string>;
}

/** Describes the start for the log, without credentials. @param models all models of the gateway */
export function describeStart(config: Config, version: string, models: ReadonlyArray<string>): StartDescription {
  const { roles, eventStore, readStore, blobStore } = config;
  const more = models.length - maxModels;
  return {
    version,
    roles: [...roles],
    eventStore: storeAddress(eventStore),
    readStore: storeAddress(readStore),
    blobStore: storeAddress(blobStore),
    models: more > 0 ? [...models.slice(0, maxModels), `${more} more`] : models,
  };
}

function storeAddress(store: Config['eventStore'] | Config['readStore'] | Config['blobStore']): string {
  return 'path' in store ? `${store.kind}:${store.path}` : withoutCredentials(store.url);
}

/** Scheme, hosts and path of the address. Users, passwords and options, which may contain secrets, are left out. */
function withoutCredentials(url: string): string {
  const [, scheme = '', rest = ''] = /^([a-z+]+:\/\/)([^?#]*)/i.exec(url) ?? [];
  return scheme + rest.slice(rest.lastIndexOf('@') + 1);
}

import { StartupError } from '#shared/errors/startup-error.ts';

/** The options of EventStoreDB's clients, in any spelling: letter case, `-` and `_` are ignored. */
const knownOptions = [
  'connectionName',
  'discoveryInterval',
  'gossipTimeout',
  'keepAliveInterval',
  'keepAliveTimeout',
  'maxDiscoverAttempts',
  'nodePreference',
  'tls',
  'tlsCAFile',
  'userCertFile',
  'userKeyFile',
];

/** Default options. A silent server is detected after these two times together. Pings are sent while a call is open. */
const defaults = [
  ['keepAliveInterval', '10000'],
  ['keepAliveTimeout', '5000'],
  ['connectionName', 'switchyard'],
] as const;

/**
 * Checks an `esdb://` URL, so that no part of it is ignored, and adds the defaults.
 * @param url `esdb://[user:password@]host[:port][,host[:port]…][?option=value[&…]]`, or `esdb+discover://…` for a name
 *   of a whole cluster. KurrentDB's scheme for the same, `kurrentdb://…`, is accepted too.
 * @returns the URL for `serverSettings`
 * @throws StartupError, with nothing of the URL but the name of an option in its message
 */
export function connectionUrl(url: string): string {
  const [, discover = '', authority, query = ''] =
    /^(?:esdb|kurrentdb)(\+discover)?:\/\/([^?]+?)\/?(?:\?(.*))?$/.exec(url.trim()) ?? [];
  if (authority === undefined)
    throw new StartupError(
      'The event store URL is not of the form esdb://host:port,host:port?option=value or esdb+discover://name.',
    );
  const { credentials, hosts } = partsOf(authority);
  // A part of a password would look like an option, and an error would show it.
  if (query.includes('@') || !isEncoded(credentials)) throw new StartupError(notEncoded);
  if (credentials !== null && !credentials.includes(':'))
    throw new StartupError('The event store URL has a user without a password: esdb://user:password@host.');
  const options = optionsOf(query);
  for (const [name, value] of defaults) if (!options.has(flat(name))) options.set(flat(name), `${name}=${value}`);
  return `${scheme(discover, hosts)}://${authority}?${[...options.values()].join('&')}`;
}

const notEncoded =
  'The user and the password in the event store URL must be percent-encoded: % is %25, @ is %40, : is %3A, ? is %3F.';

/** True if user and password are encoded so that they are read as they are meant. */
function isEncoded(credentials: string | null): boolean {
  const [user = '', password = '', ...more] = credentials?.split(':') ?? [];
  if (more.length > 0 || user.includes('@') || password.includes('@')) return false;
  try {
    decodeURIComponent(user + password);
    return true;
  } catch {
    return false;
  }
}

function partsOf(authority: string): { readonly credentials: string | null; readonly hosts: string } {
  const at = authority.lastIndexOf('@');
  return { credentials: at < 0 ? null : authority.slice(0, at), hosts: authority.slice(at + 1) };
}

/** Null without user and password. */
export function credentialsOf(url: string): { readonly user: string; readonly password: string } | null {
  const { credentials } = partsOf(authorityOf(url));
  if (credentials === null) return null;
  const [user = '', password = ''] = credentials.split(':').map(decodeURIComponent);
  return { user, password };
}

/** The hosts in the URL as `host:port`. */
export function seedsOf(url: string): ReadonlyArray<string> {
  const { hosts } = partsOf(authorityOf(url));
  return hosts.split(',').map((host) => (host.includes(':') ? host : `${host}:${defaultPort}`));
}

const defaultPort = 2113;

function authorityOf(url: string): string {
  return url.slice(url.indexOf('://') + 3, url.indexOf('?'));
}

/**
 * The client uses only the first host of `esdb+discover`; with `esdb` it requests the cluster's members from all hosts.
 */
function scheme(discover: string, hosts: string): string {
  return hosts.includes(',') ? 'esdb' : `esdb${discover}`;
}

function optionsOf(query: string): Map<string, string> {
  const options = new Map<string, string>();
  for (const option of query.split('&').filter((part) => part !== '')) {
    const [name = '', value] = option.split('=');
    if (!knownOptions.some((known) => flat(known) === flat(name)))
      throw new StartupError(
        `The event store URL has the option ${name}, which is unknown or not supported; known are ${knownOptions.join(', ')}.`,
      );
    if (value === undefined || value === '')
      throw new StartupError(`The option ${name} of the event store URL has no value.`);
    if (flat(name) === flat('nodePreference')) checkNodePreference(value);
    options.set(flat(name), option);
  }
  return options;
}

/** Every call needs the leader. A connection to another node would fail each of them, like an outage. */
function checkNodePreference(value: string): void {
  if (flat(value) !== 'leader')
    throw new StartupError(
      'Every call needs the leader of EventStoreDB: leave nodePreference out of the event store URL, or write nodePreference=leader.',
    );
}

function flat(name: string): string {
  return name.toLowerCase().replace(/[_-]/g, '');
}

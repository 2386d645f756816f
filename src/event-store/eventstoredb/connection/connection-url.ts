import { connect } from 'node:tls';
import type { UnavailableCause } from '#shared/availability/availability.ts';
import { StartupError } from '#shared/errors/startup-error.ts';
import { causeOf } from './call-failure.ts';

/** The client's own options, in any spelling: letter case, `-` and `_` are ignored. */
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

/** A silent server is detected after these two times together. Pings are sent while a call is open. */
const defaults = [
  ['keepAliveInterval', '10000'],
  ['keepAliveTimeout', '5000'],
  ['connectionName', 'switchyard'],
] as const;

/**
 * Checks an `esdb://` URL, so that the client neither ignores a part of it nor prints it with its password, and adds
 * what the client should do by default.
 * @param url `esdb://[user:password@]host[:port][,host[:port]…][?option=value[&…]]`, or `esdb+discover://…` for a name
 *   of a whole cluster. KurrentDB's scheme for the same, `kurrentdb://…`, is accepted too.
 * @returns the URL for the client
 * @throws StartupError, with nothing of the URL but the name of an option in its message
 */
export function connectionUrl(url: string): string {
  const [, discover = '', authority, query = ''] =
    /^(?:esdb|kurrentdb)(\+discover)?:\/\/([^?]+?)\/?(?:\?(.*))?$/.exec(url.trim()) ?? [];
  if (authority === undefined)
    throw new StartupError(
      'The event store URL is not of the form esdb://host:port,host:port?option=value or esdb+discover://name.',
    );
  // A part of a password would look like an option, and an error would show it.
  if (query.includes('@')) throw new StartupError('The password in the event store URL must be percent-encoded.');
  const options = optionsOf(query);
  for (const [name, value] of defaults) if (!options.has(flat(name))) options.set(flat(name), `${name}=${value}`);
  return `${scheme(discover, authority)}://${authority}?${[...options.values()].join('&')}`;
}

/**
 * The client uses only the first host of `esdb+discover`; with `esdb` it requests the cluster's members from all hosts.
 */
function scheme(discover: string, authority: string): string {
  return authority.includes(',') ? 'esdb' : `esdb${discover}`;
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

const handshakeMs = 300;

/**
 * Reads why a call failed. A server that requires TLS closes a plain connection, which looks like a server that is
 * down. So if the URL has `tls=false`, this tries a TLS handshake.
 * @param url see `connectionUrl`
 */
export async function explainFailure(url: string, failure: unknown): Promise<UnavailableCause> {
  const cause = causeOf(failure);
  if (cause.isPermanent || !/[?&]tls=false(?:&|$)/i.test(url)) return cause;
  const [, authority = ''] = /^[^/]+:\/\/(?:[^@?/]*@)?([^?/]+)/.exec(url) ?? [];
  const answers = await Promise.all(authority.split(',').map(speaksTls));
  return answers.includes(true) ? wantsTls : cause;
}

const wantsTls: UnavailableCause = {
  detail: 'EVENT_STORE_URL says tls=false and the server speaks TLS: use tls=true',
  isPermanent: true,
};

function speaksTls(address: string): Promise<boolean> {
  const url = URL.parse(`tls://${address}`);
  if (url === null) return Promise.resolve(false);
  return new Promise((resolve) => {
    const port = url.port === '' ? 2113 : Number(url.port);
    // Tests only the handshake and sends no data.
    const socket = connect({ host: url.hostname, port, rejectUnauthorized: false, timeout: handshakeMs });
    const end = (speaks: boolean) => {
      socket.destroy();
      resolve(speaks);
    };
    socket.once('secureConnect', () => end(true));
    for (const event of ['error', 'timeout', 'close']) socket.once(event, () => end(false));
  });
}

import { readFileSync } from 'node:fs';
import { type ChannelCredentials, type ChannelOptions, credentials, Metadata } from '@grpc/grpc-js';
import { StartupError } from '#shared/errors/startup-error.ts';
import { connectionUrl, credentialsOf, seedsOf } from './connection-url.ts';

export interface ServerSettings {
  /** The addresses in the URL, as `host:port`. */
  readonly seeds: ReadonlyArray<string>;
  /** True if the server is a cluster, of which one node is the leader. */
  readonly isCluster: boolean;
  readonly hasUser: boolean;
  readonly isSecure: boolean;
  readonly credentials: ChannelCredentials;
  readonly channelOptions: ChannelOptions;
  readonly metadata: Metadata;
  /** Time between two probes of the same node in a search for the leader. */
  readonly discoveryIntervalMs: number;
  /** Time limit of a search for the leader. */
  readonly gossipTimeoutMs: number;
}

/**
 * Large, because a server stores events of up to 16 MiB that come from elsewhere, for example from its own projections.
 */
const maxMessageBytes = 17 * 1024 * 1024;

/** The pause before a refused connection is tried again. */
const reconnectMs = 200;

/** Minimum time between two questions to a node: a search must not fill a core. */
const minDiscoveryMs = 20;

/** Maximum time of a timer. A longer one ends immediately. */
const maxTimerMs = 2 ** 31 - 1;

/** @param url see `connectionUrl` @throws StartupError */
export function serverSettings(url: string): ServerSettings {
  const checked = connectionUrl(url);
  const options = new Map(
    checked
      .slice(checked.indexOf('?') + 1)
      .split('&')
      .map(optionOf),
  );
  const seeds = seedsOf(checked);
  if (!seeds.every((seed) => /^[^:/]+:\d+$/.test(seed))) throw unusable('Check its hosts and options.');
  const user = credentialsOf(checked);
  const isSecure = isSecureBy(options.get('tls'));
  const metadata = new Metadata();
  metadata.set('connection-name', options.get('connectionname') ?? '');
  // A node that is not the leader, or not ready, answers reads from its own data: an existing stream may be "not found",
  // and a subscription "caught up" without events. With this header it refuses instead.
  metadata.set('requires-leader', 'true');
  // Without TLS, a server has no users.
  if (user !== null && isSecure) metadata.set('authorization', basic(`${user.user}:${user.password}`));
  return {
    seeds,
    isCluster: checked.startsWith('esdb+discover') || seeds.length > 1,
    hasUser: user !== null,
    isSecure,
    credentials: isSecure ? secureCredentials(options) : credentials.createInsecure(),
    channelOptions: {
      'grpc.keepalive_time_ms': numberOf(options, 'keepAliveInterval', 10_000),
      'grpc.keepalive_timeout_ms': numberOf(options, 'keepAliveTimeout', 5_000),
      'grpc.max_receive_message_length': maxMessageBytes,
      'grpc.initial_reconnect_backoff_ms': reconnectMs,
      'grpc.max_reconnect_backoff_ms': reconnectMs,
      // A connection that is made after another one has broken must not be that one.
      'grpc.use_local_subchannel_pool': 1,
    },
    metadata,
    discoveryIntervalMs: Math.max(numberOf(options, 'discoveryInterval', 100), minDiscoveryMs),
    gossipTimeoutMs: Math.min(numberOf(options, 'gossipTimeout', 1) * 1_000, maxTimerMs),
  };
}

function isSecureBy(tls = 'true'): boolean {
  const value = tls.toLowerCase();
  if (value !== 'true' && value !== 'false') throw unusable('The option tls must be true or false.');
  return value === 'true';
}

function optionOf(option: string): readonly [name: string, value: string] {
  const [name = '', value = ''] = option.split('=');
  return [flat(name), decoded(value.trim())];
}

function flat(name: string): string {
  return name.toLowerCase().replace(/[_-]/g, '');
}

/** Decodes the value, which stays as it is where it is not percent-encoded. */
function decoded(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}

function numberOf(options: ReadonlyMap<string, string>, name: string, otherwise: number): number {
  const text = options.get(flat(name));
  if (text === undefined) return otherwise;
  const value = Number(text);
  if (!Number.isInteger(value)) throw unusable(`The option ${name} must be a whole number.`);
  // By the URL's rules -1 turns a limit off.
  return value < 0 ? maxTimerMs : Math.min(value, maxTimerMs);
}

function basic(credentials: string): string {
  return `Basic ${Buffer.from(credentials).toString('base64')}`;
}

function secureCredentials(options: ReadonlyMap<string, string>): ChannelCredentials {
  const fileOf = (name: string) => readFile(name, options.get(flat(name)));
  const key = fileOf('userKeyFile');
  const certificate = fileOf('userCertFile');
  if ((key === null) !== (certificate === null)) throw unusable('userCertFile and userKeyFile need each other.');
  return credentials.createSsl(fileOf('tlsCAFile'), key, certificate);
}

function readFile(option: string, path: string | undefined): Buffer | null {
  if (path === undefined) return null;
  try {
    return readFileSync(path);
  } catch {
    throw unusable(`The file of ${option} cannot be read.`);
  }
}

function unusable(why: string): StartupError {
  return new StartupError(`The event store URL cannot be used. ${why}`);
}

import assert from 'node:assert/strict';
import { serverSettings } from '#event-store/eventstoredb/connection/server-settings.ts';
import { StartupError } from '#shared/errors/startup-error.ts';

describe('serverSettings', () => {
  it('reads the hosts, and asks for the leader where there are several or a name of a cluster', () => {
    const cases = [
      ['esdb://one?tls=false', ['one:2113'], false],
      ['esdb://one:1,two?tls=false', ['one:1', 'two:2113'], true],
      ['esdb+discover://cluster?tls=false', ['cluster:2113'], true],
    ] as const;
    for (const [url, seeds, isCluster] of cases) {
      const settings = serverSettings(url);
      assert.deepEqual(settings.seeds, seeds);
      assert.equal(settings.isCluster, isCluster);
    }
  });

  it('sends the user and password to a server with TLS, and to no other', () => {
    const authorizationOf = (url: string) => serverSettings(url).metadata.get('authorization');
    const expected = `Basic ${Buffer.from('m:e:s@cret').toString('base64')}`;
    assert.deepEqual(authorizationOf('esdb://m%3Ae:s%40cret@one'), [expected]);
    assert.deepEqual(authorizationOf('esdb://m%3Ae:s%40cret@one?tls=false'), []);
    assert.deepEqual(authorizationOf('esdb://one'), []);
  });

  it('gives a search for the leader one second, unless the URL says otherwise', () => {
    assert.equal(serverSettings('esdb://one,two').gossipTimeoutMs, 1_000);
    assert.equal(serverSettings('esdb://one,two?gossip-timeout=3').gossipTimeoutMs, 3_000);
  });

  it('takes -1 and other large times as the longest time of a timer', () => {
    const longestMs = 2 ** 31 - 1;
    for (const time of ['-1', '2147483648', '9007199254740991']) {
      const options = `gossipTimeout=${time}&keepAliveInterval=${time}&keepAliveTimeout=${time}&discoveryInterval=${time}`;
      const settings = serverSettings(`esdb://one?${options}`);
      assert.equal(settings.gossipTimeoutMs, longestMs);
      assert.equal(settings.discoveryIntervalMs, longestMs);
      assert.equal(settings.channelOptions['grpc.keepalive_time_ms'], longestMs);
      assert.equal(settings.channelOptions['grpc.keepalive_timeout_ms'], longestMs);
    }
    assert.equal(serverSettings('esdb://one?gossipTimeout=2147484').gossipTimeoutMs, longestMs);
  });

  it('pauses between two questions to a node, whatever the URL says', () => {
    assert.equal(serverSettings('esdb://one?discoveryInterval=0').discoveryIntervalMs, 20);
  });

  it('reads tls in any letter case, and refuses a value that is neither true nor false', () => {
    assert.equal(serverSettings('esdb://one?tls=False').isSecure, false);
    assert.equal(serverSettings('esdb://one?TLS=TRUE').isSecure, true);
    for (const value of ['no', '0'])
      assert.throws(
        () => serverSettings(`esdb://one?tls=${value}`),
        (error) => error instanceof StartupError && error.message.includes('tls must be true or false'),
      );
  });

  for (const url of [
    'esdb://me:secret@one:two?tls=false',
    'esdb://me:secret@one?keepAliveInterval=often',
    'esdb://me:secret@one?tlsCAFile=/nowhere/ca.crt',
    'esdb://me:secret@one?userCertFile=/nowhere/user.crt',
  ])
    it(`refuses ${url} without repeating a secret`, () => {
      assert.throws(
        () => serverSettings(url),
        (error) => error instanceof StartupError && !error.message.includes('secret'),
      );
    });
});

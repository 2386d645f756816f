import assert from 'node:assert/strict';
import { connectionUrl } from '#event-store/eventstoredb/connection-url.ts';
import { StartupError } from '#shared/errors/startup-error.ts';

const defaults = 'keepAliveInterval=10000&keepAliveTimeout=5000&connectionName=switchyard';

describe('EventStoreDB connection URL', () => {
  it('keeps its hosts, credentials and options, and turns keep-alive on', () => {
    assert.equal(
      connectionUrl('esdb://me:secret@one:2113,two:2113?tlsCAFile=/ca.crt'),
      `esdb://me:secret@one:2113,two:2113?tlsCAFile=/ca.crt&${defaults}`,
    );
  });

  it('leaves what it says itself', () => {
    const url = 'esdb://one?tls=false&keep-alive-interval=20000&KeepAliveTimeout=1000&connectionName=other';
    assert.equal(connectionUrl(url), url);
  });

  it('uses every seed, also where the client would use the first alone', () => {
    assert.equal(connectionUrl('esdb+discover://one,two:1?tls=false'), `esdb://one,two:1?tls=false&${defaults}`);
    assert.equal(connectionUrl('esdb+discover://cluster'), `esdb+discover://cluster?${defaults}`);
  });

  it("takes KurrentDB's name for the same", () => {
    assert.equal(connectionUrl('kurrentdb://one?tls=false'), `esdb://one?tls=false&${defaults}`);
    assert.equal(connectionUrl('kurrentdb+discover://cluster'), `esdb+discover://cluster?${defaults}`);
  });

  for (const url of [
    '',
    'esdb://me:part?secret@one',
    'esdb://me:part?secret=of@one',
    'esdb://',
    'http://one',
    'esdb://me:secret@one?unknown=1',
    'esdb://me:secret@one?tlsVerifyCert=false',
    'esdb://me:secret@one?tls',
    'esdb://me:secret@one?throwOnAppendFailure=false',
  ])
    it(`refuses ${JSON.stringify(url)}, and says no secret`, () => {
      assert.throws(
        () => connectionUrl(url),
        (error) => error instanceof StartupError && !error.message.includes('secret'),
      );
    });
});

import assert from 'node:assert/strict';
import { connectionUrl } from '#event-store/eventstoredb/connection/connection-url.ts';
import { StartupError } from '#shared/errors/startup-error.ts';

const defaults = 'keepAliveInterval=10000&keepAliveTimeout=5000&connectionName=switchyard';

describe('connectionUrl', () => {
  it('keeps hosts, credentials and options, and enables keep-alive', () => {
    assert.equal(
      connectionUrl('esdb://me:secret@one:2113,two:2113?tlsCAFile=/ca.crt'),
      `esdb://me:secret@one:2113,two:2113?tlsCAFile=/ca.crt&${defaults}`,
    );
  });

  it('keeps options that the URL sets itself', () => {
    const url = 'esdb://one?tls=false&keep-alive-interval=20000&KeepAliveTimeout=1000&connectionName=other';
    assert.equal(connectionUrl(url), url);
  });

  it('uses every seed, even where the client would use only the first', () => {
    assert.equal(connectionUrl('esdb+discover://one,two:1?tls=false'), `esdb://one,two:1?tls=false&${defaults}`);
    assert.equal(connectionUrl('esdb+discover://cluster'), `esdb+discover://cluster?${defaults}`);
  });

  it('accepts the schemes of KurrentDB', () => {
    assert.equal(connectionUrl('kurrentdb://one?tls=false'), `esdb://one?tls=false&${defaults}`);
    assert.equal(connectionUrl('kurrentdb+discover://cluster'), `esdb+discover://cluster?${defaults}`);
  });

  it('accepts only the leader as the preferred node, because every call needs the leader', () => {
    const url = 'esdb://one?node_preference=LEADER&keepAliveInterval=1&keepAliveTimeout=1&connectionName=other';
    assert.equal(connectionUrl(url), url);
    for (const preference of ['follower', 'random', 'read_only_replica', 'readonlyreplica', 'nobody'])
      assert.throws(
        () => connectionUrl(`esdb://one,two?nodePreference=${preference}`),
        (error) => error instanceof StartupError && error.message.includes('nodePreference=leader'),
        preference,
      );
  });

  it('keeps every character of a password that is percent-encoded', () => {
    const url = 'esdb://me:%25a%40b%3Ac%2Cd%2Fe%3F,/+@one,two:1?tls=false';
    assert.equal(connectionUrl(url), `${url}&${defaults}`);
  });

  for (const password of ['secret%', '50%secret', 'secret%zz', 'sec@ret', 'sec:ret', 'secret?', '%ffsecret'])
    it(`says that the password ${JSON.stringify(password.replace('secret', '…'))} must be percent-encoded`, () => {
      assert.throws(
        () => connectionUrl(`esdb://me:${password}@one?tls=false`),
        (error) =>
          error instanceof StartupError &&
          error.message.includes('must be percent-encoded') &&
          !/secret|sec.ret/.test(error.message),
      );
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
    'esdb://me@one?nodePreference=secret',
    'esdb://secret@one?tls=false',
  ])
    it(`rejects ${JSON.stringify(url)} without repeating a secret`, () => {
      assert.throws(
        () => connectionUrl(url),
        (error) => error instanceof StartupError && !error.message.includes('secret'),
      );
    });
});

import assert from 'node:assert/strict';
import { readConfig } from '#app/config.ts';
import { describeStart } from '#app/startup/describe-start.ts';

describe('describeStart', () => {
  it('names roles, stores and models without credentials or options', () => {
    const config = readConfig({
      EVENT_STORE_URL: 'esdb+discover://ops:p%40ss@events.example:2113?tls=true&tlsCAFile=/secret',
      READ_STORE_URL: 'mongodb://me:hidden@m1:27017,m2/switchyard?authSource=admin',
      ROLES: 'gateway',
    });
    const described = describeStart(config, '1.2.3', ['large', 'small']);
    assert.deepEqual(described, {
      version: '1.2.3',
      roles: ['gateway'],
      eventStore: 'esdb+discover://events.example:2113',
      readStore: 'mongodb://m1:27017,m2/switchyard',
      blobStore: 'mongodb://m1:27017,m2/switchyard',
      models: ['large', 'small'],
    });
  });

  it('shortens a long list of models', () => {
    const models = Array.from({ length: 25 }, (_, index) => `m${index}`);
    assert.deepEqual(describeStart(readConfig({}), '1', models).models.slice(-2), ['m19', '5 more']);
  });
});

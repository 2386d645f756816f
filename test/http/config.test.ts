import assert from 'node:assert/strict';
import { resolve } from 'node:path';
import { describe, it } from 'mocha';
import { readConfig } from '#src/config.ts';
import { StartFailure } from '#src/start-failure.ts';

describe('config', () => {
  it('has a default for everything', () => {
    const config = readConfig({});
    assert.equal(config.host, '127.0.0.1');
    assert.equal(config.port, 8080);
    assert.equal(config.metricsPort, null);
    assert.deepEqual([...config.roles], ['control-plane', 'gateway', 'projections']);
    assert.equal(config.dataDir, resolve('data'));
    assert.deepEqual(config.eventStore, { kind: 'sqlite', path: resolve('data/events.db') });
    assert.equal(config.bootstrapApiKey, null);
    assert.equal(config.logLevel, 'info');
    assert.equal(config.limits.maxBodyBytes, 786_432);
  });

  it('takes what is given', () => {
    const key = `sy_live_${'A1'.repeat(16)}`;
    const config = readConfig({
      HOST: '0.0.0.0',
      PORT: '0',
      METRICS_PORT: '9100',
      DATA_DIR: '/var/lib/switchyard',
      READ_STORE_URL: 'sqlite:/tmp/read.db',
      BOOTSTRAP_API_KEY: key,
      LOG_LEVEL: 'silent',
      MAX_BODY_BYTES: '2048',
      ROLES: 'gateway, projections,control-plane',
      GATEWAY_CONFIG: '',
    });
    assert.equal(config.port, 0);
    assert.equal(config.metricsPort, 9100);
    assert.equal(config.eventStore.path, '/var/lib/switchyard/events.db');
    assert.equal(config.readStore.path, '/tmp/read.db');
    assert.equal(config.bootstrapApiKey, key);
    assert.equal(config.limits.maxBodyBytes, 2048);
    assert.equal(config.gatewayConfig, null);
  });

  it('has one port for metrics where both are the same', () => {
    assert.equal(readConfig({ PORT: '8080', METRICS_PORT: '8080' }).metricsPort, null);
  });

  for (const [name, values] of Object.entries({
    PORT: ['x', '-1', '65536', '80.5'],
    METRICS_PORT: ['x', '70000'],
    ROLES: ['gateway', 'control-plane,other', ','],
    EVENT_STORE_URL: ['esdb://user:secret@host', 'file.db', 'sqlite:'],
    READ_STORE_URL: ['mongodb://user:secret@host'],
    BLOB_STORE_URL: ['gridfs'],
    BOOTSTRAP_API_KEY: ['secret', `sy_live_${'a'.repeat(31)}`],
    LOG_LEVEL: ['loud'],
    MAX_BODY_BYTES: ['0', '1e3'],
  }))
    it(`stops on a wrong ${name}, in one line that names it and holds no secret`, () => {
      for (const value of values)
        assert.throws(
          () => readConfig({ [name]: value }),
          (error: unknown) => {
            assert.ok(error instanceof StartFailure);
            assert.ok(error.message.startsWith(name));
            assert.doesNotMatch(error.message, /\n|secret/);
            return true;
          },
          value,
        );
    });
});

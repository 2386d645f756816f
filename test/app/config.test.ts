import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { resolve } from 'node:path';
import { describe, it } from 'mocha';
import { readConfig } from '#app/config.ts';
import { StartupError } from '#shared/errors/startup-error.ts';
import { adminKey } from '#test/support/service/admin-key.ts';

describe('readConfig', () => {
  it('has a default for every variable', () => {
    const config = readConfig({});
    assert.equal(config.host, '127.0.0.1');
    assert.equal(config.port, 8080);
    assert.equal(config.metricsPort, null);
    assert.deepEqual([...config.roles], ['control-plane', 'gateway', 'projections']);
    assert.equal(config.dataDir, resolve('data'));
    assert.deepEqual(config.eventStore, { kind: 'sqlite', path: resolve('data/events.db') });
    assert.deepEqual(config.readStore, { kind: 'sqlite', path: resolve('data/read.db') });
    assert.deepEqual(config.blobStore, { kind: 'folder', path: resolve('data/blobs') });
    assert.equal(config.bootstrapApiKey, null);
    assert.equal(config.logLevel, 'info');
    assert.equal(config.limits.maxBodyBytes, 786_432);
    assert.equal(config.spoolDir, tmpdir());
    assert.deepEqual(config.limits.spools, { maxBytesPerProject: 1_073_741_824, maxBytes: 4_294_967_296 });
    assert.equal(config.limits.minFreeBytes, null);
    assert.deepEqual(config.limits.bodies, { maxBytesPerProject: 134_217_728, maxBytes: 536_870_912 });
    assert.deepEqual(config.limits.answers, { maxBytesPerProject: 33_554_432, maxBytes: 134_217_728 });
    assert.equal(config.limits.maxBodyValues, 50_000);
    assert.equal(config.limits.maxGatewayValues, 2_000_000);
    assert.equal(config.limits.uploadTimeoutMs, 3_600_000);
    assert.equal(config.limits.readYourWritesTimeoutMs, 1_000);
    assert.equal(config.limits.mongoDbMaxPoolSize, 20);
  });

  it('reads every variable that is set', () => {
    const key = `sy_live_${'Ab12Cd34'.repeat(4)}`;
    const config = readConfig({
      HOST: '0.0.0.0',
      PORT: '0',
      METRICS_PORT: '9100',
      DATA_DIR: '/var/lib/switchyard',
      READ_STORE_URL: 'sqlite:/tmp/read.db',
      BOOTSTRAP_API_KEY: key,
      LOG_LEVEL: 'silent',
      SPOOL_DIR: '/var/spool/switchyard',
      MIN_FREE_BYTES: '0',
      MAX_BODY_BYTES: '2048',
      MAX_BODY_VALUES: '100',
      MAX_GATEWAY_VALUES: '1000',
      MONGODB_MAX_POOL_SIZE: '7',
      ROLES: 'gateway, projections,control-plane',
      GATEWAY_CONFIG: '',
    });
    assert.equal(config.port, 0);
    assert.equal(config.spoolDir, '/var/spool/switchyard');
    assert.equal(config.limits.minFreeBytes, 0);
    assert.equal(config.metricsPort, 9100);
    assert.deepEqual(config.eventStore, { kind: 'sqlite', path: '/var/lib/switchyard/events.db' });
    assert.deepEqual(config.readStore, { kind: 'sqlite', path: '/tmp/read.db' });
    assert.equal(config.bootstrapApiKey, key);
    assert.equal(config.limits.maxBodyBytes, 2048);
    assert.equal(config.limits.maxBodyValues, 100);
    assert.equal(config.limits.maxGatewayValues, 1_000);
    assert.equal(config.limits.mongoDbMaxPoolSize, 7);
    assert.equal(config.gatewayConfig, null);
  });

  it('limits the time for headers to the time for the whole request', () => {
    assert.equal(readConfig({ REQUEST_TIMEOUT_MS: '5000' }).limits.headersTimeoutMs, 5_000);
    assert.throws(
      () => readConfig({ REQUEST_TIMEOUT_MS: '5000', HEADERS_TIMEOUT_MS: '5001' }),
      /^StartupError: HEADERS_TIMEOUT_MS must be a whole number from 100 to 5000, not "5001"/,
    );
  });

  const eventStoreDb = 'esdb+discover://user:secret@events:2113?tls=true';
  const mongoDb = 'mongodb+srv://user:secret@documents/switchyard';

  it('accepts EventStoreDB, MongoDB and GridFS by their URLs', () => {
    const config = readConfig({ EVENT_STORE_URL: eventStoreDb, READ_STORE_URL: mongoDb });
    assert.deepEqual(config.eventStore, { kind: 'eventstoredb', url: eventStoreDb, streamPrefix: 'switchyard.' });
    assert.deepEqual(config.readStore, { kind: 'mongodb', url: mongoDb });
    assert.deepEqual(config.blobStore, { kind: 'gridfs', url: mongoDb });
    for (const EVENT_STORE_URL of ['esdb://a:1,b:2', 'kurrentdb://a', 'kurrentdb+discover://a']) {
      assert.equal(readConfig({ EVENT_STORE_URL }).eventStore.kind, 'eventstoredb');
    }
  });

  it('reads a prefix of streams, which may be empty', () => {
    const prefixOf = (EVENT_STORE_STREAM_PREFIX: string) => {
      const { eventStore } = readConfig({ EVENT_STORE_URL: eventStoreDb, EVENT_STORE_STREAM_PREFIX });
      return eventStore.kind === 'eventstoredb' ? eventStore.streamPrefix : null;
    };
    assert.equal(prefixOf('switchyard.staging.'), 'switchyard.staging.');
    assert.equal(prefixOf(''), '');
    assert.throws(
      () => prefixOf('$system'),
      /^StartupError: EVENT_STORE_STREAM_PREFIX must be at most 100 letters, digits and \. _ : \/ -, not "\$system"/,
    );
  });

  it('keeps files at the place that BLOB_STORE_URL names', () => {
    const blobStore = (BLOB_STORE_URL: string, READ_STORE_URL?: string) =>
      readConfig({ BLOB_STORE_URL, READ_STORE_URL }).blobStore;
    assert.deepEqual(blobStore('folder:/var/blobs', mongoDb), { kind: 'folder', path: '/var/blobs' });
    assert.deepEqual(blobStore('gridfs', mongoDb), { kind: 'gridfs', url: mongoDb });
    assert.deepEqual(blobStore(`gridfs+${mongoDb}`), { kind: 'gridfs', url: mongoDb });
  });

  it('accepts a subset of roles only when both stores can be shared', () => {
    const shared = { EVENT_STORE_URL: eventStoreDb, READ_STORE_URL: mongoDb };
    assert.deepEqual([...readConfig({ ...shared, ROLES: 'gateway, projections' }).roles], ['gateway', 'projections']);
    for (const some of [{}, { EVENT_STORE_URL: eventStoreDb }, { READ_STORE_URL: mongoDb }]) {
      assert.throws(
        () => readConfig({ ...some, ROLES: 'gateway' }),
        (error) => error instanceof StartupError && /^ROLES .*embedded/.test(error.message),
      );
    }
  });

  it('uses one port when METRICS_PORT equals PORT', () => {
    assert.equal(readConfig({ PORT: '8080', METRICS_PORT: '8080' }).metricsPort, null);
  });

  it('refuses a BOOTSTRAP_API_KEY that can be guessed, without showing it, and says how to make one', () => {
    for (const value of [
      'secret',
      'sy_live_short',
      `sy_live_${'x'.repeat(31)}`,
      `sy_live_${'-'.repeat(40)}`,
      `sy_live_${'x'.repeat(32)}`,
      `sy_live_${'a'.repeat(40)}`,
      adminKey.padEnd(257, 'abcdefgh12'),
    ])
      assert.throws(
        () => readConfig({ BOOTSTRAP_API_KEY: value }),
        (error: unknown) => {
          assert.ok(error instanceof StartupError);
          assert.match(error.message, /^BOOTSTRAP_API_KEY.*npm run keys -- generate/);
          assert.ok(!error.message.includes(value) && !error.message.includes('\n'), error.message);
          return true;
        },
        value,
      );
  });

  it('says what is allowed, what was given and an example', () => {
    const messages = {
      LOG_LEVEL: [
        'loud',
        'LOG_LEVEL must be one of "fatal", "error", "warn", "info", "debug", "trace", "silent", not "loud". Example: LOG_LEVEL=info',
      ],
      ROLES: [
        'gateway, other',
        'ROLES must be one of "control-plane", "gateway", "projections", not "other". Example: ROLES=control-plane,gateway,projections',
      ],
      REQUESTS_PER_MINUTE: [
        'many',
        'REQUESTS_PER_MINUTE must be a whole number from 1 to 1000000000, not "many". Example: REQUESTS_PER_MINUTE=600',
      ],
      EVENT_STORE_URL: [
        'http://user:password@host',
        'EVENT_STORE_URL must begin with sqlite:, esdb:// or esdb+discover://. Example: EVENT_STORE_URL=esdb://events.example:2113?tls=true',
      ],
    };
    for (const [name, [value, message]] of Object.entries(messages))
      assert.throws(() => readConfig({ [name]: value }), { message });
  });

  for (const [name, values] of Object.entries({
    PORT: ['x', '-1', '65536', '80.5'],
    METRICS_PORT: ['x', '70000'],
    ROLES: ['gateway', 'control-plane,other', ','],
    EVENT_STORE_URL: ['http://user:secret@host', 'file.db', 'sqlite:', 'esdb://', 'esdb:user:secret@host'],
    READ_STORE_URL: ['postgres://user:secret@host', 'mongodb:', 'read.db'],
    BLOB_STORE_URL: ['gridfs', 'gridfs+http://user:secret@host', 's3://user:secret@host', 'folder:'],
    LOG_LEVEL: ['loud'],
    MAX_APPEND_BYTES: ['4095'],
    MAX_FILLED_BYTES: ['1023'],
    MAX_BODY_BYTES: ['0', '1e3'],
    MAX_BODY_BYTES_IN_FLIGHT: ['0', '1 GiB'],
    MAX_BODY_BYTES_IN_FLIGHT_PER_PROJECT: ['0', 'x'],
    MAX_ANSWER_BYTES_IN_FLIGHT: ['0', '1 GiB'],
    MAX_ANSWER_BYTES_IN_FLIGHT_PER_PROJECT: ['0', 'x'],
    MAX_SPOOL_BYTES: ['0', '-1'],
    MAX_SPOOL_BYTES_PER_PROJECT: ['1'],
    MIN_FREE_BYTES: ['-1', '5%'],
    MAX_BODY_VALUES: ['0', '1e3'],
    MAX_GATEWAY_VALUES: ['99', 'many'],
    ORGANIZATION_LIMIT_FACTOR: ['0', 'ten'],
    PARTNER_LIMIT_FACTOR: ['0', '1.5'],
    MONGODB_MAX_POOL_SIZE: ['0', '1001', 'many'],
    MAX_WEBHOOK_ENDPOINTS_PER_PROJECT: ['0', 'many'],
    MAX_WEBHOOK_ENDPOINTS_PER_ORGANIZATION: ['0', '-1'],
  }))
    it(`rejects a wrong ${name} in one line that names it and holds no secret`, () => {
      for (const value of values)
        assert.throws(
          () => readConfig({ [name]: value }),
          (error: unknown) => {
            assert.ok(error instanceof StartupError);
            assert.ok(error.message.startsWith(name));
            assert.doesNotMatch(error.message, /\n|secret/);
            return true;
          },
          value,
        );
    });
});

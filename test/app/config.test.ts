import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { resolve } from 'node:path';
import { describe, it } from 'mocha';
import { readConfig } from '#app/config.ts';
import { StartupError } from '#shared/errors/startup-error.ts';
import { adminKey } from '#test/support/service/admin-key.ts';

describe('config', () => {
  it('has a default for everything', () => {
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
    assert.equal(config.limits.maxBodyValues, 50_000);
    assert.equal(config.limits.maxGatewayValues, 2_000_000);
    assert.equal(config.limits.uploadMilliseconds, 3_600_000);
    assert.equal(config.limits.showMilliseconds, 1_000);
  });

  it('takes what is given', () => {
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
    assert.equal(config.gatewayConfig, null);
  });

  it('lets headers take no longer than the whole request', () => {
    assert.equal(readConfig({ REQUEST_TIMEOUT_MS: '5000' }).limits.headersMilliseconds, 5_000);
    assert.throws(
      () => readConfig({ REQUEST_TIMEOUT_MS: '5000', HEADERS_TIMEOUT_MS: '5001' }),
      /^StartupError: HEADERS_TIMEOUT_MS must be a whole number from 100 to 5000, not "5001"/,
    );
  });

  const eventStoreDb = 'esdb+discover://user:secret@events:2113?tls=true';
  const mongoDb = 'mongodb+srv://user:secret@documents/switchyard';

  it('takes EventStoreDB, MongoDB and GridFS by their addresses', () => {
    const config = readConfig({ EVENT_STORE_URL: eventStoreDb, READ_STORE_URL: mongoDb });
    assert.deepEqual(config.eventStore, { kind: 'eventstoredb', url: eventStoreDb });
    assert.deepEqual(config.readStore, { kind: 'mongodb', url: mongoDb });
    assert.deepEqual(config.blobStore, { kind: 'gridfs', url: mongoDb });
    for (const EVENT_STORE_URL of ['esdb://a:1,b:2', 'kurrentdb://a', 'kurrentdb+discover://a']) {
      assert.equal(readConfig({ EVENT_STORE_URL }).eventStore.kind, 'eventstoredb');
    }
  });

  it('keeps files where it is told', () => {
    const blobStore = (BLOB_STORE_URL: string, READ_STORE_URL?: string) =>
      readConfig({ BLOB_STORE_URL, READ_STORE_URL }).blobStore;
    assert.deepEqual(blobStore('folder:/var/blobs', mongoDb), { kind: 'folder', path: '/var/blobs' });
    assert.deepEqual(blobStore('gridfs', mongoDb), { kind: 'gridfs', url: mongoDb });
    assert.deepEqual(blobStore(`gridfs+${mongoDb}`), { kind: 'gridfs', url: mongoDb });
  });

  it('splits roles where both stores can be shared, and nowhere else', () => {
    const shared = { EVENT_STORE_URL: eventStoreDb, READ_STORE_URL: mongoDb };
    assert.deepEqual([...readConfig({ ...shared, ROLES: 'gateway, projections' }).roles], ['gateway', 'projections']);
    for (const some of [{}, { EVENT_STORE_URL: eventStoreDb }, { READ_STORE_URL: mongoDb }]) {
      assert.throws(
        () => readConfig({ ...some, ROLES: 'gateway' }),
        (error) => error instanceof StartupError && /^ROLES .*embedded/.test(error.message),
      );
    }
  });

  it('has one port for metrics where both are the same', () => {
    assert.equal(readConfig({ PORT: '8080', METRICS_PORT: '8080' }).metricsPort, null);
  });

  for (const [name, values] of Object.entries({
    PORT: ['x', '-1', '65536', '80.5'],
    METRICS_PORT: ['x', '70000'],
    ROLES: ['gateway', 'control-plane,other', ','],
    EVENT_STORE_URL: ['http://user:secret@host', 'file.db', 'sqlite:', 'esdb://', 'esdb:user:secret@host'],
    READ_STORE_URL: ['postgres://user:secret@host', 'mongodb:', 'read.db'],
    BLOB_STORE_URL: ['gridfs', 'gridfs+http://user:secret@host', 's3://user:secret@host', 'folder:'],
    BOOTSTRAP_API_KEY: ['secret', `sy_live_${'a'.repeat(40)}`, adminKey.padEnd(257, 'secret')],
    LOG_LEVEL: ['loud'],
    MAX_BODY_BYTES: ['0', '1e3'],
    MAX_BODY_BYTES_IN_FLIGHT: ['0', '1 GiB'],
    MAX_BODY_BYTES_IN_FLIGHT_PER_PROJECT: ['0', 'x'],
    MAX_SPOOL_BYTES: ['0', '-1'],
    MAX_SPOOL_BYTES_PER_PROJECT: ['1'],
    MIN_FREE_BYTES: ['-1', '5%'],
    MAX_BODY_VALUES: ['0', '1e3'],
    MAX_GATEWAY_VALUES: ['99', 'many'],
    ORGANIZATION_LIMIT_FACTOR: ['0', 'ten'],
    PARTNER_LIMIT_FACTOR: ['0', '1.5'],
  }))
    it(`stops on a wrong ${name}, in one line that names it and holds no secret`, () => {
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

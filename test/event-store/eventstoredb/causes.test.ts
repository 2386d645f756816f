import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer as createTcpServer, type Server as TcpServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { StreamsService } from '@eventstore/db-client/generated/streams_grpc_pb.js';
import { Metadata, Server, ServerCredentials, status } from '@grpc/grpc-js';
import { pino } from 'pino';
import { waitForStore } from '#app/startup/wait-for-stores.ts';
import { noStream } from '#event-store/event-store.ts';
import {
  type EventStoreDbEventStore,
  openEventStoreDbEventStore,
} from '#event-store/eventstoredb/eventstoredb-event-store.ts';
import { StartupError } from '#shared/errors/startup-error.ts';
import { PermanentlyUnavailableError, UnavailableError } from '#shared/errors/unavailable-error.ts';
import type { DebugLogger } from '#shared/logging/logger.ts';
import { mustAppend, mustRefuse, someEvent, someStream } from '#test/contract/event-store.ts';
import { EventStoreDbClusterDouble } from '#test/support/eventstoredb/cluster-double.ts';
import { EventStoreDbDouble } from '#test/support/eventstoredb/eventstoredb-double.ts';
import { freePort } from '#test/support/run/free-port.ts';

const log: DebugLogger = pino({ level: 'silent' });
/** Matches an address or a password, which no message may contain. */
const secretOrAddress = /127\.0\.0\.1|localhost|secret|unknown\.invalid/;

/** A log that keeps its warnings, with their fields. */
function keepWarnings(): { readonly log: DebugLogger; readonly warnings: ReadonlyArray<Record<string, unknown>> } {
  const warnings: Array<Record<string, unknown>> = [];
  const nothing = () => {};
  const warn = (fields: Record<string, unknown>) => void warnings.push(fields);
  return { log: { debug: nothing, info: nothing, warn, error: nothing }, warnings };
}

describe('cause of an unavailable EventStoreDB', function () {
  this.timeout(30_000);

  let folder: string;
  const opened: Array<() => Promise<unknown> | unknown> = [];

  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'switchyard-causes-'));
    const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'];
    const files = ['-keyout', join(folder, 'key.pem'), '-out', join(folder, 'certificate.pem')];
    execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', ...subject, ...files], {
      stdio: 'ignore',
    });
  });

  after(() => rmSync(folder, { recursive: true }));

  afterEach(async () => {
    for (const close of opened.splice(0).toReversed()) await close();
  });

  function open(url: string, by = log): EventStoreDbEventStore {
    const store = openEventStoreDbEventStore({ url, streamPrefix: 'test.', log: by });
    opened.push(() => store.close());
    return store;
  }

  /** A server that speaks TLS, or that refuses every call. */
  async function serve(
    secured: boolean,
    refusal: { code: status; details: string; exception?: string },
  ): Promise<number> {
    const server = new Server();
    const refuse = (call: { emit: (event: string, error: object) => void }) => {
      const metadata = new Metadata();
      if (refusal.exception !== undefined) metadata.set('exception', refusal.exception);
      call.emit('error', { code: refusal.code, details: refusal.details, metadata });
    };
    const answer = (_call: unknown, callback: (error: object) => void) =>
      callback({ code: refusal.code, details: refusal.details, metadata: new Metadata() });
    server.addService(StreamsService, {
      read: refuse,
      append: answer,
      batchAppend: refuse,
      delete: answer,
      tombstone: answer,
    });
    const key = {
      private_key: readFileSync(join(folder, 'key.pem')),
      cert_chain: readFileSync(join(folder, 'certificate.pem')),
    };
    const credentials = secured ? ServerCredentials.createSsl(null, [key]) : ServerCredentials.createInsecure();
    opened.push(() => server.forceShutdown());
    return new Promise((resolve, reject) => {
      server.bindAsync('127.0.0.1:0', credentials, (error, port) => (error === null ? resolve(port) : reject(error)));
    });
  }

  /** Reads until the store is known to be unavailable. @returns why */
  async function failureOf(url: string, by = log): Promise<UnavailableError> {
    const failure: unknown = await open(url, by)
      .lastPosition()
      .then(
        () => null,
        (error: unknown) => error,
      );
    assert.ok(failure instanceof UnavailableError, String(failure));
    assert.doesNotMatch(failure.message, secretOrAddress);
    return failure;
  }

  const refused = { code: status.UNIMPLEMENTED, details: 'never called' };

  it('names tlsCAFile for an untrusted certificate', async () => {
    const port = await serve(true, refused);
    const failure = await failureOf(`esdb://127.0.0.1:${port}?tls=true`);
    assert.match(failure.message, /certificate is not trusted: add tlsCAFile=/);
    assert.ok(failure instanceof PermanentlyUnavailableError);
  });

  it('names tls=false when a client with TLS calls a server without TLS', async () => {
    const double = await EventStoreDbDouble.start();
    opened.push(() => double.kill());
    const failure = await failureOf(`esdb://127.0.0.1:${double.port}?tls=true`);
    assert.match(failure.message, /the server speaks plain text: add tls=false/);
    assert.ok(failure instanceof PermanentlyUnavailableError);
  });

  it('names tls=true when a client without TLS calls a server with TLS', async () => {
    const port = await serve(true, refused);
    const failure = await failureOf(`esdb://127.0.0.1:${port}?tls=false`);
    assert.match(failure.message, /use tls=true/);
    assert.ok(failure instanceof PermanentlyUnavailableError);
  });

  it('names a host that is unknown', async () => {
    const failure = await failureOf('esdb://unknown.invalid:2113?tls=false');
    assert.match(failure.message, /the host name in EVENT_STORE_URL is unknown/);
    assert.ok(!(failure instanceof PermanentlyUnavailableError));
  });

  it('names a port that does not answer', async () => {
    const failure = await failureOf(`esdb://127.0.0.1:${await freePort()}?tls=false`);
    assert.match(failure.message, /nothing answers at the host and port in EVENT_STORE_URL/);
  });

  it('names a wrong password', async () => {
    const port = await serve(false, { code: status.UNAUTHENTICATED, details: 'Invalid credentials' });
    const failure = await failureOf(`esdb://me:secret@127.0.0.1:${port}?tls=false`);
    assert.match(failure.message, /user or password in EVENT_STORE_URL is wrong or missing/);
    assert.ok(failure instanceof PermanentlyUnavailableError);
  });

  it('names missing rights, and the rights that reading $all requires', async () => {
    const port = await serve(false, {
      code: status.PERMISSION_DENIED,
      details: 'Access Denied',
      exception: 'access-denied',
    });
    const failure = await failureOf(`esdb://me:secret@127.0.0.1:${port}?tls=false`);
    assert.match(failure.message, /lacks rights: .*reading `\$all` needs `\$admins`/);
    assert.ok(failure instanceof PermanentlyUnavailableError);
  });

  for (const refusal of [
    { code: status.UNAUTHENTICATED, details: 'Unauthenticated' },
    { code: status.PERMISSION_DENIED, details: 'Access Denied', exception: 'access-denied' },
  ])
    it(`says that the URL has no user when the server answers ${refusal.details} to a read and to a write`, async () => {
      const url = `esdb://127.0.0.1:${await serve(false, refusal)}?tls=false`;
      const failure = await failureOf(url);
      assert.match(failure.message, /the server needs a user, and EVENT_STORE_URL has none/);
      assert.ok(failure instanceof PermanentlyUnavailableError);
      const write = await mustRefuse(open(url), someStream(), noStream, [someEvent()]);
      assert.ok(write.kind === 'unavailable');
      assert.match(write.detail, /the server needs a user, and EVENT_STORE_URL has none/);
    });

  describe('of a cluster', () => {
    let cluster: EventStoreDbClusterDouble;

    beforeEach(async () => {
      cluster = await EventStoreDbClusterDouble.start();
      opened.push(() => cluster.end());
    });

    for (const [what, urlOf] of [
      ['one of its nodes', () => cluster.nodes[2]?.url ?? ''],
      ['all of its nodes', () => cluster.url],
    ] as const)
      it(`says in one line that it has no leader, to a client that knows ${what}`, async () => {
        cluster.depose();
        for (const node of cluster.nodes.slice(0, 2)) await cluster.kill(node);
        const { log: kept, warnings } = keepWarnings();
        const failure = await failureOf(urlOf(), kept);
        assert.match(failure.message, /the cluster has no leader \(alive nodes: \d of 3\)/);
        await sleep(2_000);
        assert.equal(warnings.length, 1, JSON.stringify(warnings));
      });

    for (const [what, urlOf] of [
      ['one of its nodes', () => cluster.followers[0]?.url ?? ''],
      ['two of its nodes', () => cluster.url.replace(`127.0.0.1:${cluster.leader.port},`, '')],
    ] as const)
      it(`says that the address of the leader cannot be reached, to a client that knows ${what}, and names it in the log only`, async () => {
        const unreachable = await freePort();
        cluster.advertise(cluster.leader, { host: '127.0.0.1', port: unreachable });
        const { log: kept, warnings } = keepWarnings();
        const failure = await failureOf(urlOf(), kept);
        assert.match(failure.message, /advertises an address of its leader that cannot be reached from here/);
        assert.match(failure.message, /AdvertiseHostToClientAs/);
        assert.ok(!(failure instanceof PermanentlyUnavailableError), 'the leader may come back');
        assert.deepEqual(
          warnings.map(({ address }) => address),
          [`127.0.0.1:${unreachable}`],
        );
      });

    it('does not arise from a wrong address of the leader, to a client that knows the right one', async () => {
      cluster.advertise(cluster.leader, { host: '127.0.0.1', port: await freePort() });
      await mustAppend(open(cluster.url), someStream(), noStream, [someEvent()]);
    });

    it('is the silence of a leader in the URL, whatever address it advertises', async () => {
      cluster.advertise(cluster.leader, { host: '127.0.0.1', port: await freePort() });
      cluster.leader.faults.silentReads = true;
      const failure = await failureOf(cluster.url);
      assert.match(failure.message, /it does not answer in time/);
    });

    it('is the silence of a single server, whatever address it advertises', async () => {
      const endpoint = { host: '127.0.0.1', port: await freePort() };
      const self = { instanceId: randomUUID(), endpoint, role: 'leader', isAlive: true } as const;
      const double = await EventStoreDbDouble.start({
        membership: () => ({ role: 'leader', leader: endpoint, members: [self] }),
      });
      opened.push(() => double.kill());
      double.faults.silentReads = true;
      const failure = await failureOf(double.url);
      assert.match(failure.message, /it does not answer in time/);
    });
  });

  it('ends a start immediately with one line when waiting does not help', async () => {
    const port = await serve(false, { code: status.UNAUTHENTICATED, details: 'Invalid credentials' });
    const store = open(`esdb://me:secret@127.0.0.1:${port}?tls=false`);
    const began = performance.now();
    await assert.rejects(
      waitForStore('EVENT_STORE_URL', log, () => store.lastPosition()),
      (error: unknown) =>
        error instanceof StartupError && /^EVENT_STORE_URL: [^\n]*user or password[^\n]*$/.test(error.message),
    );
    assert.ok(performance.now() - began < 10_000);
  });

  it('keeps a start waiting for a server that does not answer yet', async () => {
    const port = await freePort();
    const store = open(`esdb://127.0.0.1:${port}?tls=false`);
    const silent: TcpServer = createTcpServer((socket) => socket.destroy());
    silent.listen(port, '127.0.0.1');
    await once(silent, 'listening');
    assert.equal((silent.address() as AddressInfo).port, port);
    opened.push(() => new Promise((resolve) => silent.close(resolve)));
    await assert.rejects(
      waitForStore('EVENT_STORE_URL', log, () => store.lastPosition(), 1_500),
      /^StartupError: EVENT_STORE_URL: the store did not answer within 1.5 s\./,
    );
  });
});

import assert from 'node:assert/strict';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, it } from 'mocha';
import type { Caller } from '#domain/shared/access.ts';
import { Connections, defaultBodyRate } from '#http/request/connections.ts';
import type { ServerLimits } from '#http/server/server.ts';
import { type GatewayService, startGateway } from '#test/gateway/support/gateway-service.ts';
import { SlowClient } from '#test/gateway/support/slow-client.ts';
import { caller, type FakeService, startFakeService, widgetId } from '#test/http/support/fake-service.ts';
import { rawRequest } from '#test/http/support/raw-request.ts';
import { eventually } from '#test/support/run/eventually.ts';

/** A project's key is its id. */
const authenticate = async (key: string): Promise<Caller | null> =>
  key === 'unknown'
    ? null
    : {
        ...caller,
        keyId: `k${key}`,
        keyType: 'project',
        projectId: key,
        scopes: new Set(['gateway:read', 'gateway:write', 'flows:read', 'flows:write']),
      };
const configuration = {
  providers: { p: { kind: 'sandbox' } },
  models: { m: { targets: [{ provider: 'p', model: 'x' }] } },
};
const chats = '/v1/chat/completions';
const chat = Buffer.from(JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'Hi' }] }));
const health = 'GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n';

describe('Connections of the HTTP server', () => {
  let service: GatewayService | FakeService | null = null;
  let sockets: Socket[] = [];
  let clients: SlowClient[] = [];
  afterEach(async () => {
    leave();
    await service?.stop();
    service = null;
  });

  function leave(): void {
    for (const socket of sockets) socket.destroy();
    for (const client of clients) client.leave();
    sockets = [];
    clients = [];
  }

  async function startWith(serverLimits: ServerLimits): Promise<GatewayService> {
    const started = await startGateway(configuration, { authenticate, serverLimits });
    service = started;
    return started;
  }

  function open(port: number, bytes = ''): Socket {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => undefined).resume();
    if (bytes !== '') socket.write(bytes);
    sockets.push(socket);
    return socket;
  }

  /** Begins a chat whose body has no end yet. */
  function beginChat(port: number, project: string): SlowClient {
    const client = new SlowClient(port, project);
    clients.push(client);
    client.begin(chats, 'application/json', chat.length);
    client.write(chat.subarray(0, 5));
    return client;
  }

  async function fill(gateway: GatewayService, project: string, count: number): Promise<ReadonlyArray<SlowClient>> {
    const begun: SlowClient[] = [];
    for (let number = 0; number < count; number += 1) {
      const arriving = gateway.connectionFigures().arrivingBodies;
      begun.push(beginChat(gateway.port, project));
      await eventually(() => gateway.connectionFigures().arrivingBodies > arriving, 'the body arrives');
    }
    return begun;
  }

  function callOnce(port: number, project: string): Promise<string> {
    const head = `GET /v1/models HTTP/1.1\r\nHost: a\r\nx-api-key: ${project}\r\nConnection: close\r\n\r\n`;
    return rawRequest(port, [head]).then(({ text }) => text);
  }

  async function openWithoutHead(gateway: GatewayService, count: number): Promise<ReadonlyArray<Socket>> {
    const opened: Socket[] = [];
    for (let number = 0; number < count; number += 1) {
      const { open: before } = gateway.connectionFigures();
      opened.push(open(gateway.port, 'GET /healthz HTTP/1.1\r\n'));
      await eventually(() => gateway.connectionFigures().open > before, 'it is accepted');
    }
    return opened;
  }

  it('keeps a tenth of the connections without a complete head while half are taken, and serves all others', async () => {
    const gateway = await startWith({ maxConnections: 100 });
    await fill(gateway, 'one', 45);
    const slow = await openWithoutHead(gateway, 40);
    await eventually(() => slow.filter(({ destroyed }) => destroyed).length === 30, 'thirty are closed');
    const { withoutHead, refused } = gateway.connectionFigures();
    assert.deepEqual([withoutHead, refused['no-head']], [10, 30]);
    assert.equal(slow.at(-1)?.destroyed, false);
    assert.equal((await fetch(`${gateway.url}/healthz`)).status, 200);
  });

  it('closes no connection without a head while few connections are taken', async () => {
    const gateway = await startWith({ maxConnections: 100 });
    await openWithoutHead(gateway, 40);
    await sleep(1_200);
    const { withoutHead, refused } = gateway.connectionFigures();
    assert.deepEqual([withoutHead, refused['no-head']], [40, 0]);
  });

  it('closes the oldest of the connections without a head while they alone take half of the places', async () => {
    const gateway = await startWith({ maxConnections: 100 });
    const slow = await openWithoutHead(gateway, 60);
    await eventually(() => gateway.connectionFigures().refused['no-head'] > 0, 'some are closed');
    await sleep(200);
    assert.equal(gateway.connectionFigures().withoutHead, 45);
    assert.deepEqual([slow[14]?.destroyed, slow[15]?.destroyed], [true, false]);
  });

  it('closes none of many connections that send their heads immediately', async () => {
    const { port, connectionFigures } = await startWith({ maxConnections: 100 });
    const answers = await Promise.all(Array.from({ length: 80 }, () => callOnce(port, 'one')));
    assert.deepEqual([...new Set(answers.map((text) => text.slice(0, 12)))], ['HTTP/1.1 200']);
    assert.equal(connectionFigures().refused['no-head'], 0);
  });

  it('closes none of many connections whose heads come a moment later', async () => {
    const { port, connectionFigures } = await startWith({ maxConnections: 100 });
    const late = Array.from({ length: 80 }, () => open(port));
    await eventually(() => connectionFigures().withoutHead === 80, 'all are accepted');
    await sleep(50);
    for (const socket of late) socket.write(health);
    await eventually(() => connectionFigures().withoutHead === 0, 'all heads are read');
    assert.deepEqual([connectionFigures().open, connectionFigures().refused['no-head']], [80, 0]);
  });

  it('gives a request the place of a connection without a head while too many have none', async () => {
    const { port, connectionFigures } = await startWith({ maxConnections: 100 });
    for (let number = 0; number < 90; number += 1) open(port);
    await eventually(() => connectionFigures().withoutHead === 90, 'all are accepted');
    assert.match(await callOnce(port, 'one'), /^HTTP\/1\.1 200 /);
  });

  it('ends the newest unfinished bodies of a project that has more than half of the places for another project', async () => {
    const gateway = await startWith({ maxConnections: 20 });
    const greedy = await fill(gateway, 'greedy', 18);
    assert.match(await callOnce(gateway.port, 'other'), /^HTTP\/1\.1 200 /);
    const newest = greedy.at(-1);
    const { status, json } = (await newest?.answer()) ?? {};
    assert.deepEqual([status, (json as { error: { code: string } }).error.code], [408, 'body_evicted']);
    assert.equal(gateway.connectionFigures().refused['body-ended'], 1);
    assert.equal(greedy.at(-2)?.text, '');
    const [oldest] = greedy;
    oldest?.write(chat.subarray(5));
    assert.equal((await oldest?.answer())?.status, 200);
  });

  it('gives a project no place of its own bodies, and ends none of a project within its share', async () => {
    const gateway = await startWith({ maxConnections: 20 });
    const own = await callAfter(gateway, 'greedy', [['greedy', 18]]);
    assert.match(own, /^HTTP\/1\.1 503 .*Connection: close.*"code":"connections_full"/is);
    leave();
    await gateway.stop();
    const shared = await startWith({ maxConnections: 30 });
    const third = await callAfter(shared, 'third', [
      ['one', 9],
      ['two', 18],
    ]);
    assert.match(third, /^HTTP\/1\.1 200 /);
    assert.equal(shared.connectionFigures().refused['body-ended'], 1);
    assert.equal(shared.connectionFigures().refused['no-place'], 0);
  });

  async function callAfter(
    gateway: GatewayService,
    project: string,
    bodies: ReadonlyArray<readonly [string, number]>,
  ): Promise<string> {
    for (const [owner, count] of bodies) await fill(gateway, owner, count);
    return callOnce(gateway.port, project);
  }

  it('answers health checks, and only them, while all places are taken', async () => {
    const gateway = await startWith({ maxConnections: 20 });
    await fill(gateway, 'greedy', 18);
    for (const path of ['/healthz', '/readyz']) {
      const { text, closed } = await rawRequest(gateway.port, [`GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`]);
      assert.match(text, /^HTTP\/1\.1 200 .*Connection: close/is);
      assert.ok(closed);
    }
    assert.match(await callOnce(gateway.port, 'unknown'), /^HTTP\/1\.1 401 .*Connection: close/is);
    assert.equal(gateway.connectionFigures().refused['body-ended'], 0);
  });

  it('answers health checks while more connections come than there may be', async () => {
    const gateway = await startWith({ maxConnections: 40 });
    await fill(gateway, 'greedy', 36);
    for (let number = 0; number < 60; number += 1) beginChat(gateway.port, 'greedy');
    await sleep(100);
    const { text } = await rawRequest(gateway.port, [health]);
    assert.match(text, /^HTTP\/1\.1 200 /);
  });

  it('closes the connection that has been idle for longest when all places are taken', async () => {
    const { port, connectionFigures } = await startWith({ maxConnections: 20 });
    const idle: Socket[] = [];
    for (let number = 0; number < 18; number += 1) {
      idle.push(open(port, health));
      await eventually(
        () => connectionFigures().open === number + 1 && connectionFigures().withoutHead === 0,
        'it is idle',
      );
    }
    assert.match(await callOnce(port, 'one'), /^HTTP\/1\.1 200 /);
    await eventually(() => idle[0]?.destroyed === true, 'the oldest is closed');
    assert.deepEqual([idle[1]?.destroyed, connectionFigures().refused.idle], [false, 1]);
  });

  it('keeps an idle connection that is used again, and closes the next oldest', async () => {
    const { port, connectionFigures } = await startWith({ maxConnections: 20 });
    const idle: Socket[] = [];
    const areIdle = (count: number) => () =>
      connectionFigures().open === count && connectionFigures().withoutHead === 0;
    for (let number = 0; number < 18; number += 1) {
      idle.push(open(port, health));
      await eventually(areIdle(number + 1), 'it is idle');
    }
    await callOnce(port, 'one');
    await eventually(areIdle(17), 'the oldest is closed');
    const [, used, next] = idle;
    const answered = new Promise((resolve) => used?.once('data', resolve));
    used?.write(health);
    await answered;
    idle.push(open(port, health));
    await eventually(areIdle(18), 'all places are taken again');
    assert.match(await callOnce(port, 'one'), /^HTTP\/1\.1 200 /);
    await eventually(() => next?.destroyed === true, 'the next one is closed');
    assert.equal(used?.destroyed, false);
  });

  it('ends an unfinished body before it closes a connection that was used a moment ago', async () => {
    const gateway = await startWith({ maxConnections: 20 });
    await fill(gateway, 'greedy', 17);
    const used = open(gateway.port, health);
    await eventually(() => gateway.connectionFigures().open === 18 && gateway.connectionFigures().withoutHead === 0);
    assert.match(await callOnce(gateway.port, 'other'), /^HTTP\/1\.1 200 /);
    const { refused } = gateway.connectionFigures();
    assert.deepEqual([used.destroyed, refused.idle, refused['body-ended']], [false, 0, 1]);
  });

  it('ends a body that comes slower than the least rate while more than half of the places are taken', async () => {
    const bodyRate = { minBytesPerSecond: 1_000, measuredMs: 200 };
    const gateway = await startWith({ maxConnections: 20, bodyRate });
    const few = await fill(gateway, 'greedy', 9);
    await sleep(500);
    assert.equal(gateway.connectionFigures().arrivingBodies, 9);
    beginChat(gateway.port, 'greedy');
    const { status, json } = (await few[0]?.answer()) ?? {};
    assert.deepEqual([status, (json as { error: { code: string } }).error.code], [408, 'body_too_slow']);
    await eventually(() => gateway.connectionFigures().refused['body-slow'] >= 9, 'all that were slow are ended');
  });

  it('closes at most a hundred connections without a head in a turn of the event loop', async () => {
    const connections = new Connections(500, defaultBodyRate);
    const sockets = Array.from({ length: 400 }, () => new PassThrough() as unknown as Socket);
    for (const socket of sockets) connections.add(socket);
    const closed: number[] = [];
    for (let left = 400; left > 234; ) {
      await nextTurn();
      const { withoutHead } = connections.figures;
      if (withoutHead < left) closed.push(left - withoutHead);
      left = withoutHead;
    }
    assert.ok(Math.max(...closed) <= 100, `${closed}`);
    for (const socket of sockets) socket.destroy();
    connections.close();
  });

  it('refuses nothing when it closes answered connections for others', async () => {
    const connections = new Connections(20, defaultBodyRate);
    const answered = { headersSent: true, writableLength: 0, writableFinished: false } as ServerResponse;
    const added = Array.from({ length: 25 }, () => {
      const socket = new PassThrough() as unknown as Socket;
      connections.add(socket);
      connections.begin({ socket } as IncomingMessage, answered);
      return socket;
    });
    await eventually(() => connections.figures.open === 20, 'those beyond the limit are closed');
    assert.equal(added.filter(({ destroyed }) => destroyed).length, 5);
    assert.deepEqual(Object.values(connections.figures.refused), [0, 0, 0, 0, 0, 0]);
    for (const socket of added) socket.destroy();
    connections.close();
  });

  it('counts nothing when all connections are closed', async () => {
    const gateway = await startWith({ maxConnections: 20 });
    await fill(gateway, 'greedy', 18);
    for (let number = 0; number < 5; number += 1) await callOnce(gateway.port, 'other');
    open(gateway.port);
    open(gateway.port, 'GET /healthz HTTP/1.1\r\n');
    leave();
    await eventually(() => gateway.connectionFigures().open === 0, 'none is open');
    const { withoutHead, arrivingBodies } = gateway.connectionFigures();
    assert.deepEqual([withoutHead, arrivingBodies], [0, 0]);
    await fill(gateway, 'greedy', 18);
    assert.equal(gateway.connectionFigures().refused['no-place'], 0);
  });

  it('answers requests that follow each other on one connection in their order', async () => {
    const { port } = await startWith({ maxConnections: 2 });
    const request = (path: string) => `GET ${path} HTTP/1.1\r\nHost: a\r\nx-api-key: one\r\n\r\n`;
    const last = 'GET /v1/models HTTP/1.1\r\nHost: a\r\nx-api-key: unknown\r\nConnection: close\r\n\r\n';
    const { text } = await rawRequest(port, [request('/healthz') + request('/v1/models'), request('/healthz') + last]);
    assert.deepEqual(
      [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status),
      ['200', '200', '200', '401'],
    );
  });

  it('ends a body of the control plane for another project, and closes its connection', async () => {
    const fake = await startFakeService({ authenticate }, { maxConnections: 20 });
    service = fake;
    for (let number = 0; number < 18; number += 1) {
      const client = new SlowClient(fake.port, 'greedy');
      clients.push(client);
      client.begin('/v1/projects/cproject01/widgets', 'application/json', 100);
      client.write(Buffer.from('{"name":'));
      await eventually(() => fake.connectionFigures().arrivingBodies === number + 1, 'the body arrives');
    }
    const answer = await rawRequest(fake.port, [
      `GET /v1/widgets/${widgetId} HTTP/1.1\r\nHost: a\r\nx-api-key: other\r\n\r\n`,
    ]);
    assert.match(answer.text, /^HTTP\/1\.1 200 .*Connection: close/is);
    const ended = await eventually(() => clients.find(({ text }) => text !== '') ?? null, 'one is ended');
    assert.match(ended.text, /^HTTP\/1\.1 408 .*Connection: close/is);
    await ended.closed;
  });
});

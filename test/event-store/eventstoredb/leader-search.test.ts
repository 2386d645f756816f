import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { callCauseOf } from '#event-store/eventstoredb/connection/call-failure.ts';
import { LeaderConnection } from '#event-store/eventstoredb/connection/connection.ts';
import { LeaderSearch, pauseMs } from '#event-store/eventstoredb/connection/leader-search.ts';
import { serverSettings } from '#event-store/eventstoredb/connection/server-settings.ts';
import { probeRequest } from '#event-store/eventstoredb/wire/requests.ts';
import { StreamNames } from '#event-store/eventstoredb/wire/stream-names.ts';
import { makeCertificate } from '#test/support/eventstoredb/certificate.ts';
import { EventStoreDbDouble } from '#test/support/eventstoredb/eventstoredb-double.ts';

const question = probeRequest(new StreamNames({ streamPrefix: 'test.' }));

describe('LeaderSearch', function () {
  this.timeout(10_000);

  const opened: Array<() => Promise<unknown> | unknown> = [];
  afterEach(async () => {
    for (const close of opened.splice(0).toReversed()) await close();
  });

  async function startDouble(isSecure: boolean): Promise<EventStoreDbDouble> {
    const folder = mkdtempSync(join(tmpdir(), 'switchyard-search-'));
    opened.push(() => rmSync(folder, { recursive: true }));
    const double = await EventStoreDbDouble.start(isSecure ? { certificate: makeCertificate(folder) } : {});
    opened.push(() => double.kill());
    return double;
  }

  /** A connection whose search for the leader lasts longer than a test. */
  function connectTo(doubles: ReadonlyArray<EventStoreDbDouble>, options: string): LeaderConnection {
    const seeds = doubles.map(({ port }) => `127.0.0.1:${port}`).join(',');
    const settings = serverSettings(`esdb://${seeds}?gossipTimeout=600&${options}`);
    const connection = new LeaderConnection({ settings, question, onAnswer: () => {}, onFailure: () => {} });
    opened.push(() => connection.close());
    return connection;
  }

  it('ends, and connects no more, when no node has a certificate that is trusted', async () => {
    const doubles = [await startDouble(true), await startDouble(true)];
    const connection = connectTo(doubles, 'tls=true');
    await assert.rejects(connection.probe(5_000), (error) => callCauseOf(error).isPermanent);
    // A closed link may end one more handshake.
    await sleep(600);
    const sentBytes = () => doubles.reduce((sum, double) => sum + double.bytesSent, 0);
    const before = sentBytes();
    await sleep(1_000);
    assert.equal(sentBytes(), before);
  });

  it('continues while only some nodes cannot be used', async () => {
    const [plain, secured] = [await startDouble(false), await startDouble(true)];
    const connection = connectTo([plain, secured], 'tls=false');
    plain.freeze();
    const probed = connection.probe(5_000);
    await sleep(300);
    plain.thaw();
    await probed;
  });

  it('fails when no call can be made to the address of a node', async () => {
    const linkTo = () => {
      throw new Error('no such address');
    };
    const search = new LeaderSearch({ settings: serverSettings('esdb://one?gossipTimeout=600'), question, linkTo });
    await assert.rejects(search.find(), /no such address/);
  });

  it('asks each node ten times a second at first, and once a second after ten seconds', () => {
    assert.equal(pauseMs(9_999, 100), 100);
    assert.equal(pauseMs(10_000, 100), 1_000);
    assert.equal(pauseMs(10_000, 2_000), 2_000);
  });
});

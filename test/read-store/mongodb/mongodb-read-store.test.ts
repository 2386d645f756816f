import assert from 'node:assert/strict';
import { MongoClient } from 'mongodb';
import { nothingRead } from '#domain/shared/log-mark.ts';
import type { PositionsWriter } from '#read-store/published-positions.ts';
import type { DocumentWrite, Generation, ReadStore, ReadStoreWriter } from '#read-store/read-store.ts';
import { FencedError } from '#shared/errors/fenced-error.ts';
import { type OpenReadStore, readStoreContract } from '#test/contract/read-store.ts';
import { eventually } from '#test/support/run/eventually.ts';
import {
  openCheckpointingWriter,
  openMongoDbReadStore,
  openMongoDbReadStoreWriter,
} from '#test/support/service/mongodb-read-store.ts';
import { describeOnMongoDb, describeOnOwnMongoDb } from '#test/support/service/mongodb-server.ts';
import { ProxyListener } from '#test/support/service/proxy-listener.ts';

/** Long, because these tests check results and not times. */
const timeoutMs = 60_000;
const everything = { limit: 1000, maxBytes: 1e7 };
const items = { name: 'items', version: 1, indexes: [['group']] };

describeOnMongoDb('read store on MongoDB', (server) => {
  readStoreContract('MongoDB', async () => openAt(server.newUrl()), 2_500);

  describe('document guards', () => {
    let url: string;
    let store: OpenReadStore;
    let generation: Generation;
    beforeEach(async () => {
      url = server.newUrl();
      store = openAt(url);
      generation = await store.writer.begin(items, 0);
    });
    afterEach(() => store.dispose());

    const commit = (checkpoint: number, ...writes: ReadonlyArray<DocumentWrite>) =>
      store.writer.commit([{ generation, writes, checkpoint }]);
    const listed = async () =>
      (await store.reader.list('items', {}, everything)).documents.map(({ id, value }) => [id, value]);

    it('rejects a late write to a document that was removed, by id or by index, few or many', async () => {
      const made = Array.from({ length: 30 }, (_, index) => put(`d${index}`, 1, { group: index < 3 ? 'few' : 'many' }));
      await commit(1, ...made, put('a', 1, { group: 'none' }));
      await commit(5, { kind: 'delete', id: 'a', position: 5 }, removal('few', 5), removal('many', 5));
      const late = openCheckpointingWriter({ url, timeoutMs });
      await late.commit([{ generation, writes: [...made, put('a', 1, { group: 'none' })], checkpoint: 1 }]);
      await late.close();
      assert.deepEqual(await listed(), []);
      assert.equal((await store.writer.generations('items')).current?.checkpoint, 5);
    });

    it('shows the fold which event removed a document', async () => {
      await commit(1, put('a', 1, { group: 'g' }));
      await commit(4, removal('g', 4));
      const { position, value } = (await store.writer.read(generation, ['a'])).get('a') ?? {};
      assert.deepEqual({ position, value }, { position: 4, value: null });
    });

    it('stores a removed document that is created again', async () => {
      await commit(1, put('a', 1, { group: 'g' }));
      await commit(3, removal('g', 3));
      await commit(4, put('a', 4, { group: 'h' }));
      assert.deepEqual(await listed(), [['a', { group: 'h' }]]);
    });

    it('keeps a document that was put after a removal in the same batch when the batch is sent twice', async () => {
      await commit(1, put('a', 1, { group: 'g' }));
      for (let time = 0; time < 2; time += 1) await commit(5, removal('g', 5), put('b', 5, { group: 'g' }));
      assert.deepEqual(await listed(), [['b', { group: 'g' }]]);
    });

    it('forgets the removal of a document after a day, and not before', async () => {
      await commit(2, put('old', 1, {}), put('new', 2, {}));
      await commit(4, { kind: 'delete', id: 'old', position: 3 }, { kind: 'delete', id: 'new', position: 4 });
      const client = new MongoClient(url);
      try {
        const documents = client.db().collection<{ _id: string }>(`documents.items.${generation.number}`);
        const yesterday = new Date(Date.now() - 25 * 60 * 60 * 1000);
        await documents.updateOne({ _id: 'old' }, { $set: { 'state.removedAt': yesterday } });
        store = await store.reopen();
        await commit(5);
        const left = await documents.find().toArray();
        assert.deepEqual(
          left.map(({ _id }) => _id),
          ['new'],
        );
      } finally {
        await client.close();
      }
    });

    it('serves whole generations to readers while one replaces the other', async () => {
      await commit(1, put('a', 1, {}), put('b', 2, {}));
      await store.writer.publish(generation);
      let reading = true;
      const read = async () => {
        while (reading) {
          assert.deepEqual(await listed(), [
            ['a', {}],
            ['b', {}],
          ]);
          assert.equal((await store.reader.get('items', 'b'))?.order, 2);
        }
      };
      const readers = Promise.all([read(), read()]);
      for (let round = 0; round < 15; round += 1) {
        generation = await store.writer.begin(items, 0);
        await commit(2, put('a', 1, {}), put('b', 2, {}));
        await store.writer.publish(generation);
      }
      reading = false;
      await readers;
    });

    it('keeps a replaced generation for a while, over a second rebuild and a takeover, and then drops it', async () => {
      const keepReplacedMs = 300;
      const client = new MongoClient(url);
      const collections = async () => {
        const all = await client.db().listCollections({}, { nameOnly: true }).toArray();
        return all
          .map(({ name }) => name)
          .filter((name) => name.startsWith('documents.'))
          .sort();
      };
      const first = openCheckpointingWriter({ url, timeoutMs, fence: 1, keepReplacedMs: 60_000 });
      const second = openCheckpointingWriter({ url, timeoutMs, fence: 2, keepReplacedMs });
      try {
        await store.writer.publish(generation);
        const rebuild = async (writer: ReadStoreWriter, position: number) => {
          const filled = await writer.begin(items, 0);
          await writer.commit([{ generation: filled, writes: [put('a', position, {})], checkpoint: position }]);
          await writer.publish(filled);
        };
        await rebuild(first, 2);
        await rebuild(first, 3);
        await first.dropOthers(['items']);
        const all = ['documents.items.1', 'documents.items.2', 'documents.items.3'];
        assert.deepEqual(await collections(), all);
        const { current, filling } = await second.generations('items');
        assert.deepEqual([current?.number, current?.checkpoint, filling], [3, 3, null]);
        const beat = () => second.savePositions({ ready: true, projections: [], statusChanges: 0, read: nothingRead });
        await beat();
        assert.deepEqual(await collections(), all);
        const isDropped = async () => {
          await beat();
          return (await collections()).length === 1;
        };
        await eventually(isDropped, 'the replaced generations are dropped');
        assert.deepEqual(await collections(), ['documents.items.3']);
      } finally {
        await Promise.all([first.close(), second.close(), client.close()]);
      }
    });

    it('continues from the checkpoints after a crash between the two steps of a commit', async () => {
      const writer = openMongoDbReadStoreWriter({ url, timeoutMs });
      await writer.commit([{ generation, writes: [put('a', 4, { text: 'new' })], checkpoint: 4 }]);
      await writer.close();
      assert.equal((await store.writer.generations('items')).current?.checkpoint, 0);
      await commit(4, put('a', 3, { text: 'old' }), put('a', 4, { text: 'new' }));
      assert.deepEqual(await listed(), [['a', { text: 'new' }]]);
      assert.equal((await store.writer.generations('items')).current?.checkpoint, 4);
    });

    it('keeps the checkpoints of read models that a new writer has not opened yet', async () => {
      await commit(4, put('a', 4, {}));
      const writer = openMongoDbReadStoreWriter({ url, timeoutMs, fence: 1 });
      await writer.savePositions({ ready: false, projections: [], statusChanges: 0, read: nothingRead });
      assert.equal((await writer.generations('items')).current?.checkpoint, 4);
      await writer.close();
      const next = openMongoDbReadStoreWriter({ url, timeoutMs, fence: 2 });
      assert.equal((await next.generations('items')).current?.checkpoint, 4);
      await next.close();
    });

    it('drops what a cut-off writer left of a generation that is not recorded', async () => {
      await commit(1, put('a', 1, {}));
      const client = new MongoClient(url);
      try {
        await client.db().collection('documents.items.77').insertOne({});
        await store.writer.dropOthers(['items']);
        const names = (await client.db().listCollections().toArray()).map(({ name }) => name);
        assert.ok(!names.includes('documents.items.77'));
        assert.deepEqual(await listed(), [['a', {}]]);
      } finally {
        await client.close();
      }
    });
  });

  describe('announced generations', () => {
    let url: string;
    let writer: ReadStoreWriter & PositionsWriter;
    let reader: ReadStore;
    let announced: number | undefined;
    let readAt: number;
    beforeEach(async () => {
      url = server.newUrl();
      announced = undefined;
      readAt = performance.now();
      const generations = { generationOf: () => announced, readAt: () => readAt };
      writer = openCheckpointingWriter({ url, timeoutMs, keepReplacedMs: 0 });
      reader = openMongoDbReadStore({ url, timeoutMs, announced: generations });
    });
    afterEach(async () => {
      await reader.close();
      await writer.close();
    });

    const rebuild = async (text: string) => {
      const generation = await writer.begin(items, 0);
      await writer.commit([{ generation, writes: [put('a', 1, { text, group: 'g' })], checkpoint: 1 }]);
      await writer.publish(generation);
      return generation.number;
    };
    const read = async () => (await reader.get<{ text: string }>('items', 'a'))?.value.text;

    it('are read without asking the store, and a newer one is read as soon as it is announced', async () => {
      await rebuild('one');
      assert.equal(await read(), 'one');
      announced = await rebuild('two');
      assert.equal(await read(), 'two');
      await rebuild('three');
      assert.equal(await read(), 'two');
      announced += 1;
      assert.equal(await read(), 'three');
    });

    it('are not relied on for a document that is not found, for an empty page, and after a long silence', async () => {
      announced = await rebuild('one');
      assert.equal(await read(), 'one');
      await rebuild('two');
      // The writer drops what was replaced.
      await writer.savePositions({ ready: true, projections: [], statusChanges: 0, read: nothingRead });
      assert.equal(await read(), 'two');
      await rebuild('three');
      const page = async () => (await reader.list('items', { group: 'g' }, everything)).documents.map(({ id }) => id);
      assert.equal(await read(), 'two');
      await writer.savePositions({ ready: true, projections: [], statusChanges: 0, read: nothingRead });
      assert.deepEqual(await page(), ['a']);
      await rebuild('four');
      assert.equal(await read(), 'three');
      readAt = performance.now() - 20_001;
      assert.equal(await read(), 'four');
    });
  });

  describe('fencing', () => {
    let url: string;
    let older: ReadStoreWriter & PositionsWriter;
    let newer: ReadStoreWriter & PositionsWriter;
    let generation: Generation;
    beforeEach(async () => {
      url = server.newUrl();
      older = openCheckpointingWriter({ url, timeoutMs, fence: 1 });
      newer = openCheckpointingWriter({ url, timeoutMs, fence: 2 });
      generation = await older.begin(items, 0);
      await older.saveStatus([]);
    });
    afterEach(async () => {
      await older.close();
      await newer.close();
    });

    it('refuses every call with an older token once a newer token was seen', async () => {
      await newer.generations('items');
      await newer.saveStatus([]);
      await newer.saveOperatorState({ position: 1, skipped: {} });
      await newer.savePositions({ ready: true, projections: [], statusChanges: 0, read: nothingRead });
      const commit = { generation, writes: [put('a', 1, {})], checkpoint: 1 };
      await assert.rejects(older.commit([commit]), FencedError);
      await assert.rejects(older.commit([{ ...commit, writes: [] }]), FencedError);
      await assert.rejects(older.begin(items, 0), FencedError);
      await assert.rejects(older.publish(generation), FencedError);
      await assert.rejects(older.generations('items'), FencedError);
      await assert.rejects(older.saveStatus([]), FencedError);
      await assert.rejects(older.saveOperatorState({ position: 2, skipped: {} }), FencedError);
      await assert.rejects(
        older.savePositions({ ready: true, projections: [], statusChanges: 0, read: nothingRead }),
        FencedError,
      );
      await older.dropOthers([]);
      const { current, filling } = await newer.generations('items');
      assert.deepEqual([current, filling], [generation, null]);
      assert.equal((await newer.operatorState()).position, 1);
    });

    it('refuses a commit to a generation that was dropped', async () => {
      await older.begin({ ...items, version: 2 }, 0);
      const commit = { generation, writes: [put('a', 1, {})], checkpoint: 1 };
      await assert.rejects(older.commit([commit]), FencedError);
    });

    it('shows readers the positions of the projections, their token and the writer’s beat', async () => {
      const reader = openMongoDbReadStore({ url, timeoutMs });
      try {
        assert.equal(await reader.positions(), null);
        const behind = {
          ready: false,
          projections: [{ name: 'items', position: 3, live: false, generation: 1 }],
          statusChanges: 0,
          read: nothingRead,
        };
        await older.savePositions(behind);
        assert.deepEqual(await reader.positions(), { ...behind, token: 1, beat: 1 });
        await older.savePositions(behind);
        assert.deepEqual(await reader.positions(), { ...behind, token: 1, beat: 2 });
        const live = {
          ready: true,
          projections: [{ name: 'items', position: 2 ** 40, live: true, generation: 1 }],
          statusChanges: 3,
          read: nothingRead,
        };
        await newer.savePositions(live);
        assert.deepEqual(await reader.positions(), { ...live, token: 2, beat: 1 });
      } finally {
        await reader.close();
      }
    });

    it('lets the newer writer continue from what the older one stored', async () => {
      await older.commit([{ generation, writes: [put('a', 1, { group: 'g' })], checkpoint: 1 }]);
      const { current } = await newer.generations('items');
      assert.equal(current?.checkpoint, 1);
      await newer.commit([{ generation, writes: [put('a', 2, { group: 'h' })], checkpoint: 2 }]);
      await newer.publish(generation);
      const reader = openMongoDbReadStore({ url, timeoutMs });
      assert.deepEqual((await reader.get('items', 'a'))?.value, { group: 'h' });
      await reader.close();
    });
  });
});

describeOnOwnMongoDb('a page of a read store on MongoDB', (mongoDb) => {
  it('is hardly more than it holds when the server sends it again, and leaves no cursor open', async () => {
    let sent = 0;
    const proxy = new ProxyListener(mongoDb.port, ({ client, server }) => {
      server.on('data', ({ length }: Buffer) => {
        sent += length;
      });
      client.pipe(server);
      server.pipe(client);
    });
    await proxy.listen();
    const url = mongoDb.newUrl();
    const store = openAt(url);
    const commands: string[] = [];
    const onCommand = ({ command }: { readonly command: string }) => commands.push(command);
    const reader = openMongoDbReadStore({ url: `${proxy.through(url)}?directConnection=true`, timeoutMs, onCommand });
    try {
      const generation = await store.writer.begin(items, 0);
      const writes = Array.from({ length: 100 }, (_, index) =>
        put(`d${String(index).padStart(3, '0')}`, index, { text: 'x'.repeat(50_000) }),
      );
      await store.writer.commit([{ generation, writes, checkpoint: 100 }]);
      await reader.list('items', {}, { limit: 1_000, maxBytes: 1_000_000 });
      sent = 0;
      commands.length = 0;
      const page = await reader.list('items', {}, { limit: 1_000, maxBytes: 1_000_000 });
      assert.equal(page.documents.length, 19);
      assert.ok(sent < 1_200_000, `${sent} bytes`);
      assert.deepEqual(commands.slice(0, 1), ['find']);
      assert.ok(!commands.includes('getMore') && !commands.includes('killCursors'), commands.join());
    } finally {
      await reader.close();
      await store.dispose();
      await proxy.close();
    }
  });
});

function put(id: string, position: number, value: object): DocumentWrite {
  return { kind: 'put', id, order: position, value, body: JSON.stringify(value), position };
}

function removal(group: string, position: number): DocumentWrite {
  return { kind: 'delete-where', where: { group }, position };
}

function openAt(url: string): OpenReadStore {
  const reader = openMongoDbReadStore({ url, timeoutMs });
  const writer = openCheckpointingWriter({ url, timeoutMs });
  const close = async () => {
    await reader.close();
    await writer.close();
  };
  return {
    reader,
    writer,
    reopen: async () => {
      await close();
      return openAt(url);
    },
    dispose: close,
  };
}

import assert from 'node:assert/strict';
import * as E from 'fp-ts/lib/Either.js';
import { VersionComparer } from '#application/diffs/version-comparer.ts';
import { StreamHistory } from '#application/history/stream-history.ts';
import type { OperationResult } from '#application/operations/operation-request.ts';
import type { CollectionReader } from '#application/operations/paging.ts';
import { listItems, maxPageBytes } from '#application/operations/paging.ts';
import { PendingResources } from '#application/operations/read-your-writes.ts';
import type { AnyQuery } from '#application/queries/query.ts';
import { queryOperation } from '#application/queries/query-handler.ts';
import { exampleDigest } from '#domain/history/digest.ts';
import { Admission } from '#exchange/admission.ts';
import { PersonalData } from '#personal-data/personal-data.ts';
import { Positions } from '#positions/positions.ts';
import { getFlow } from '#queries/flow/get-flow.ts';
import { getFlowVersion } from '#queries/flow-version/get-flow-version.ts';
import { listFlowVersions } from '#queries/flow-version/list-flow-versions.ts';
import { listStores } from '#queries/store/list-stores.ts';
import { queries } from '#queries/table.ts';
import { getTemplateVersion } from '#queries/template-version/get-template-version.ts';
import type { PageRequest, ReadStore } from '#read-store/read-store.ts';
import { StoredDocument } from '#read-store/stored-document.ts';
import { EncodedJson } from '#shared/json/json.ts';
import { ids, tenants } from '#test/support/events/tenants.ts';
import { InMemorySubjectKeys } from '#test/support/fakes/in-memory-subject-keys.ts';
import { countParsedCharacters } from '#test/support/harness/count-parsed-characters.ts';
import { Service } from '#test/support/harness/in-memory-service.ts';
import { invokeOperation } from '#test/support/harness/invoke-operation.ts';
import { populatedService } from '#test/support/service/populated-service.ts';
import { recordedCall } from '#test/usage/call-log/logged-calls.ts';

const recordCharacters = 100_000;
const manyDocuments = 40;

/** Invokes a query as an admin. @param parameters the ids in its path */
async function ask(
  query: AnyQuery,
  documents: ReadStore,
  parameters: Readonly<Record<string, string>>,
  personalData = new PersonalData(new InMemorySubjectKeys()),
  log: Pick<Service, 'writer' | 'store'> = new Service(),
): Promise<OperationResult> {
  const keyUsage = { touch: () => undefined, lastUsed: async () => new Map(), close: async () => undefined };
  const admission = new Admission();
  const runtime = {
    documents,
    pending: new PendingResources(new Positions(admission)),
    admission,
    services: {
      history: new StreamHistory(log.store),
      personalReader: (subjects: ReadonlyArray<string>) => personalData.readerOf(subjects),
      streams: log.writer,
      unknownEvents: () => documents.unknownEvents(),
      keyUsage,
      projectionStatus: async () => [],
      processStatus: async () => [],
      waitForPosition: async () => true,
      lastPosition: async () => 0,
      lag: { lagMs: () => 0, past: () => ({ times: [], worstLag: [], worstLagMs: [], growth: [] }) },
      calls: { ofRequest: async () => [recordedCall()], page: async () => ({ calls: [recordedCall()], next: null }) },
      responses: { quotaBytes: 9, ttlDays: 30, amountOf: async () => ({ count: 1, bytes: 2, oldestAt: 3 }) },
      gatewayHealth: () => ({ node: 'node-1', windowSeconds: 300, targets: [], circuitChanges: [] }),
      webhooks: { deliveryOf: async () => null, deliveriesTo: async () => ({ deliveries: [], next: null }) },
      comparer: new VersionComparer({ admission, maxCharactersHere: Number.MAX_SAFE_INTEGER }),
      verification: async () => null,
      proveInclusion: async (stream: string) => ({
        digest: exampleDigest,
        head: { hash: '', revision: 0, stream },
        index: 0,
        path: [],
      }),
    },
  };
  const answer = await invokeOperation(queryOperation(query, runtime as never), { parameters });
  if (E.isLeft(answer)) assert.fail(`${query.about.name}: ${answer.left.code}`);
  return answer.right;
}

/** A read store that returns the same value for every id. */
class Documents implements ReadStore {
  readonly pages: PageRequest[] = [];
  readonly #value: object;

  constructor(value: object) {
    this.#value = value;
  }

  async get(_: string, id: string) {
    return this.#document(id) as never;
  }

  async list(_collection: string, _where: object, page: PageRequest) {
    this.pages.push(page);
    const documents = Array.from({ length: manyDocuments }, (_, index) => this.#document(`cdocument${index}`));
    return { documents, next: null } as never;
  }

  count = async () => manyDocuments;
  status = async () => [];
  async snapshot() {
    return null;
  }

  unknownEvents = async () => [];
  keysLastUsed = async () => new Map();
  close = async () => undefined;

  /** A reader of any collection; all have the same documents. */
  readonly reader: CollectionReader = {
    get: (id) => this.get('any', id),
    list: (where, page) => this.list('any', where, page),
  };

  #document(id: string) {
    return new StoredDocument(id, 1, JSON.stringify(this.#value), 1);
  }
}

const large = new Documents({
  ...tenants.project,
  revision: 3,
  listedIn: ids.project,
  record: { id: ids.flow, flowSchema: 'x'.repeat(recordCharacters) },
});

describe('queries of stored records', () => {
  for (const [query, parameters] of [
    [getFlow, { flowId: ids.flow }],
    [getFlowVersion, { versionId: ids.flow }],
    [getTemplateVersion, { versionId: ids.template }],
    [listFlowVersions, { flowId: ids.flow }],
    [listStores, {}],
  ] as ReadonlyArray<readonly [AnyQuery, Readonly<Record<string, string>>]>) {
    it(`answers ${query.about.name} without parsing the stored record`, async () => {
      const { result, characters } = await countParsedCharacters(() => ask(query, large, parameters));
      assert.ok(characters < 2_000, `${characters} characters were parsed`);
      assert.ok(result.body instanceof EncodedJson);
      const texts = result.body.text.split(JSON.stringify('x'.repeat(recordCharacters))).length - 1;
      assert.equal(texts, query.about.name.startsWith('list') ? manyDocuments : 1);
    });
  }

  it('lists stored records in pages of at most 2 MiB', async () => {
    const documents = new Documents({ ...tenants.project, revision: 0, record: {} });
    await ask(listFlowVersions, documents, { flowId: ids.flow });
    assert.deepEqual(documents.pages, [{ limit: 1_000, maxBytes: maxPageBytes }]);
    assert.equal(maxPageBytes, 2 * 1024 * 1024);
  });
});

describe('listItems', () => {
  it('builds records from documents a few at a time, so that other work can run', async () => {
    const documents = new Documents({ text: 'x'.repeat(20_000) });
    let builtInTurn = 0;
    let maxInTurn = 0;
    const endTurn = () => {
      builtInTurn = 0;
      turn = setImmediate(endTurn);
    };
    let turn = setImmediate(endTurn);
    await listItems(documents.reader, { where: {}, input: {}, name: 'items' }, async () => ({ id }) => {
      builtInTurn += 1;
      maxInTurn = Math.max(maxInTurn, builtInTurn);
      return id;
    });
    clearImmediate(turn);
    // Seven documents exceed the 128 Ki characters of a turn, and a count may span two turns.
    assert.ok(maxInTurn <= 14, `${maxInTurn} of ${manyDocuments} documents in one turn`);
  });
});

/** Queries of two resources, which other tests invoke. */
const withTwoIds = new Set([
  'preview_instance_upgrade',
  'diff_flow_versions',
  'diff_template_versions',
  'get_store_file',
]);

/** The parameters of queries whose path names no document. */
const parametersOf: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  get_call: { requestId: recordedCall().requestId },
};

describe('every query', () => {
  it('answers a body that matches its declared output, on a service with resources of every kind', async () => {
    const { documents, personalData, writer, store } = await populatedService();
    const idOf = async (subject: NonNullable<AnyQuery['access']['subject']>) => {
      if ('entity' in subject) {
        const found = store.log.find(({ stream }) => stream.startsWith(`${subject.entity.category}-`));
        return String(found?.data.id);
      }
      const { documents: found } = await documents.list(subject.collection.name, {}, { limit: 1, maxBytes: 1 });
      return found[0]?.id ?? '';
    };
    for (const query of queries.filter(({ about }) => !withTwoIds.has(about.name))) {
      const { subject } = query.access;
      const parameters =
        subject === null ? (parametersOf[query.about.name] ?? {}) : { [subject.parameter]: await idOf(subject) };
      const { body } = await ask(query, documents, parameters, personalData, { writer, store });
      const value = body instanceof EncodedJson ? body.parse() : body;
      assert.ok(query.output !== null);
      assert.ok(E.isRight(query.output.decode(value)), `${query.about.name}: ${JSON.stringify(value)}`);
    }
  });
});

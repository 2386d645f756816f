import assert from 'node:assert/strict';
import * as E from 'fp-ts/lib/Either.js';
import type { OperationResult } from '#application/operations/operation.ts';
import { listItems, maxPageBytes } from '#application/queries/paging.ts';
import type { AnyQuery, CollectionReader } from '#application/queries/query.ts';
import { queryOperation } from '#application/queries/query-handler.ts';
import { PersonalData } from '#personal-data/personal-data.ts';
import { getFlow } from '#queries/flow/get-flow.ts';
import { getFlowVersion } from '#queries/flow-version/get-flow-version.ts';
import { listFlowVersions } from '#queries/flow-version/list-flow-versions.ts';
import { listStores } from '#queries/store/list-stores.ts';
import { queries } from '#queries/table.ts';
import { getTemplateVersion } from '#queries/template-version/get-template-version.ts';
import type { PageRequest, ReadStore } from '#read-store/read-store.ts';
import { StoredDocument } from '#read-store/stored-document.ts';
import { EncodedJson } from '#shared/json/encoded-json.ts';
import { ids, tenants } from '#test/support/events/tenants.ts';
import { InMemorySubjectKeys } from '#test/support/fakes/in-memory-subject-keys.ts';
import { invokeOperation } from '#test/support/harness/invoke-operation.ts';
import { parsedCharacters } from '#test/support/harness/parsed-characters.ts';
import { believableService } from '#test/support/service/realistic-service.ts';

const recordCharacters = 100_000;
const manyDocuments = 40;

/** Asks a query as an admin. @param parameters the ids in its path */
async function ask(
  query: AnyQuery,
  documents: ReadStore,
  parameters: Readonly<Record<string, string>>,
  personalData = new PersonalData(new InMemorySubjectKeys()),
): Promise<OperationResult> {
  const keyUsage = { touch: () => undefined, lastUsed: async () => new Map(), close: async () => undefined };
  const runtime = {
    documents,
    keyUsage,
    personalData,
    projectionStatus: async () => [],
    processStatus: async () => [],
    reached: async () => true,
  };
  const answer = await invokeOperation(queryOperation(query, runtime as never), { parameters });
  if (E.isLeft(answer)) assert.fail(`${query.name}: ${answer.left.code}`);
  return answer.right;
}

/** A read store whose every document is this one. */
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

  status = async () => [];
  async snapshot() {
    return null;
  }

  unknownEvents = async () => [];
  keysLastUsed = async () => new Map();
  close = async () => undefined;

  /** Reads any collection. */
  readonly reader: CollectionReader = {
    get: (id) => this.get('any', id),
    list: (where, page) => this.list('any', where, page),
  };

  #document(id: string) {
    return new StoredDocument(id, 1, JSON.stringify(this.#value));
  }
}

const large = new Documents({
  ...tenants.project,
  revision: 3,
  listedIn: ids.project,
  record: { id: ids.flow, flowSchema: 'x'.repeat(recordCharacters) },
});

describe('records that are stored as they are answered', () => {
  for (const [query, parameters] of [
    [getFlow, { flowId: ids.flow }],
    [getFlowVersion, { versionId: ids.flow }],
    [getTemplateVersion, { versionId: ids.template }],
    [listFlowVersions, { flowId: ids.flow }],
    [listStores, {}],
  ] as ReadonlyArray<readonly [AnyQuery, Readonly<Record<string, string>>]>) {
    it(`are not parsed by ${query.name}`, async () => {
      const { result, characters } = await parsedCharacters(() => ask(query, large, parameters));
      assert.ok(characters < 2_000, `${characters} characters were parsed`);
      assert.ok(result.body instanceof EncodedJson);
      const texts = result.body.text.split(JSON.stringify('x'.repeat(recordCharacters))).length - 1;
      assert.equal(texts, query.name.startsWith('list') ? manyDocuments : 1);
    });
  }

  it('are listed in pages of 2 MiB at most', async () => {
    const documents = new Documents({ ...tenants.project, revision: 0, record: {} });
    await ask(listFlowVersions, documents, { flowId: ids.flow });
    assert.deepEqual(documents.pages, [{ limit: 1_000, maxBytes: maxPageBytes }]);
    assert.equal(maxPageBytes, 2 * 1024 * 1024);
  });
});

describe('records that are made of documents', () => {
  it('are made a few at a time, so that others have their turn', async () => {
    const documents = new Documents({ text: 'x'.repeat(20_000) });
    let madeInTurn = 0;
    let mostInTurn = 0;
    const endTurn = () => {
      madeInTurn = 0;
      turn = setImmediate(endTurn);
    };
    let turn = setImmediate(endTurn);
    await listItems(documents.reader, { where: {}, input: {}, name: 'items' }, async () => ({ id }) => {
      madeInTurn += 1;
      mostInTurn = Math.max(mostInTurn, madeInTurn);
      return id;
    });
    clearImmediate(turn);
    // Seven documents are more than 128 Ki characters; a count may hold the documents of two turns.
    assert.ok(mostInTurn <= 14, `${mostInTurn} of ${manyDocuments} documents in one turn`);
  });
});

describe('every query', () => {
  it('answers what it promises, of a service that has something of everything', async () => {
    const { documents, personalData } = await believableService();
    for (const query of queries.filter(({ name }) => name !== 'preview_instance_upgrade')) {
      const { collection, parameter } = query.subject ?? {};
      const found =
        collection === undefined ? undefined : await documents.list(collection.name, {}, { limit: 1, maxBytes: 1 });
      const parameters = parameter === undefined ? {} : { [parameter]: found?.documents[0]?.id ?? '' };
      const { body } = await ask(query, documents, parameters, personalData);
      const value = body instanceof EncodedJson ? body.parse() : body;
      assert.ok(E.isRight(query.output.decode(value)), `${query.name}: ${JSON.stringify(value)}`);
    }
  });
});

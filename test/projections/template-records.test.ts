import assert from 'node:assert/strict';
import fc from 'fast-check';
import * as E from 'fp-ts/lib/Either.js';
import { archiveTemplate } from '#commands/template/archive-template.ts';
import { createTemplate } from '#commands/template/create-template.ts';
import { updateTemplate } from '#commands/template/update-template.ts';
import { createTemplateVersion } from '#commands/template-version/create-template-version.ts';
import { publishTemplateVersion } from '#commands/template-version/publish-template-version.ts';
import { templateRecord, templateVersionRecord } from '#domain/template/answer.ts';
import type { TemplateRecord, TemplateVersionRecord } from '#domain/template/record.ts';
import { template } from '#domain/template/template.ts';
import type { JsonObject } from '#shared/json/json.ts';
import { Service } from '#test/support/harness/in-memory-service.ts';
import { payload, payloadFlow } from '#test/support/inputs/template-payload.ts';
import { itInRounds } from '#test/support/run/long.ts';

const everything = { limit: 1e6, maxBytes: 1e9 };

/** A step: a command by its number, and numbers that pick what it is sent. */
const step = fc.record({ kind: fc.nat(9), first: fc.nat(3), second: fc.nat(3), text: fc.string({ maxLength: 3 }) });
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

/** A template as simply as it can be told. */
interface Told {
  name: string;
  description: string | null;
  status: string;
  readonly versions: Array<{ readonly id: string; readonly tag: string | null; published: boolean }>;
}

/** Random commands beside a model that says what each must come to. */
class Random {
  /** Its clock goes on with each event. */
  readonly service = new Service(undefined, { now: () => new Date(Date.UTC(2026, 0, 5) + this.#ticks()) });
  readonly model = new Map<string, Told>();

  #time = 0;

  #ticks(): number {
    this.#time += 1000;
    return this.#time;
  }

  async take({ kind, first, second, text }: Step): Promise<void> {
    const ids = [...this.model.keys()];
    const templateId = ids[first % Math.max(1, ids.length)];
    const told = templateId === undefined ? undefined : this.model.get(templateId);
    if (kind < 2 || templateId === undefined || told === undefined) return this.#create(`n${text}`, text);
    const version = told.versions[second % Math.max(1, told.versions.length)];
    if (kind < 4) return this.#update(templateId, told, second === 0 ? {} : { name: `n${text}`, description: text });
    if (kind < 7) return this.#addVersion(templateId, told, second === 0 ? null : text);
    if (kind < 9) return version && this.#publish(told, version);
    if (second === 0) {
      await this.service.ok(archiveTemplate, { templateId });
      told.status = 'archived';
    }
  }

  async #create(name: string, description: string): Promise<void> {
    const { body } = await this.service.ok(createTemplate, {}, { body: { name, description } });
    this.model.set(String(body.id), { name, description, status: 'draft', versions: [] });
  }

  async #update(templateId: string, told: Told, change: { name?: string; description?: string }): Promise<void> {
    await this.service.ok(updateTemplate, { templateId }, { body: change });
    Object.assign(told, change);
  }

  async #addVersion(templateId: string, told: Told, tag: string | null): Promise<void> {
    const body = { tag, payload: payload({ flows: [payloadFlow({ flowSchema: tag })] }) };
    const answer = await this.service.send(createTemplateVersion, { templateId }, { body });
    if (told.status === 'archived') return assertRefused(answer);
    assert.ok(E.isRight(answer), JSON.stringify(answer));
    const { id, version } = answer.right.body as JsonObject;
    told.versions.push({ id: String(id), tag, published: false });
    assert.equal(version, told.versions.length);
  }

  async #publish(told: Told, version: Told['versions'][number]): Promise<void> {
    const answer = await this.service.send(publishTemplateVersion, { versionId: version.id });
    if (told.status === 'archived') return assertRefused(answer);
    assert.ok(E.isRight(answer), JSON.stringify(answer));
    version.published = true;
    told.status = 'published';
  }
}

function assertRefused(answer: Awaited<ReturnType<Service['send']>>): void {
  assert.equal(E.isLeft(answer) && answer.left.code, 'template-archived');
}

const shownIn = async <Record>({ documents }: Service, collection: string) =>
  (await documents.list(collection, {}, everything)).documents.map(
    ({ value }) => value as { readonly record: Record; readonly revision: number },
  );

describe('records of templates in read models', () => {
  itInRounds(
    'are those that commands answer and a simple model tells, after any commands',
    { few: 20, many: 300 },
    async (numRuns) => {
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 50 }), async (steps) => {
          const random = new Random();
          for (const each of steps) await random.take(each);
          const { service, model } = random;
          const templates = await shownIn<TemplateRecord>(service, 'templates');
          const versions = (await shownIn<TemplateVersionRecord>(service, 'template-versions')).map(
            (each) => each.record,
          );

          const told = [...model].map(([id, { name, description, status }]) => ({ id, name, description, status }));
          const shown = templates.map(({ record: { id, name, description, status } }) => {
            return { id, name, description, status };
          });
          assert.deepEqual(shown, told);
          for (const { record, revision } of templates) {
            const { state, resourceRevision } = await service.handler.load(template, record.id);
            const dataAt = async (at: number) => service.store.streamOf(`template-${record.id}`)[at]?.data ?? {};
            assert.deepEqual(
              { record, revision },
              { record: await templateRecord(state, dataAt), revision: resourceRevision },
            );
            const own = versions.filter(({ templateId }) => templateId === record.id);
            assert.deepEqual(
              own.map(({ id, tag, publishedAt }) => ({ id, tag, published: publishedAt !== null })),
              model.get(record.id)?.versions,
            );
            for (const each of own) assert.deepEqual(each, await templateVersionRecord(state, each.id, dataAt));
          }
        }),
        { numRuns },
      );
    },
  );
});

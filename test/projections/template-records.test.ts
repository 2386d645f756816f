import assert from 'node:assert/strict';
import fc from 'fast-check';
import * as E from 'fp-ts/lib/Either.js';
import { archiveTemplate } from '#commands/template/archive-template.ts';
import { createTemplate } from '#commands/template/create-template.ts';
import { updateTemplate } from '#commands/template/update-template.ts';
import { createTemplateVersion } from '#commands/template-version/create-template-version.ts';
import { publishTemplateVersion } from '#commands/template-version/publish-template-version.ts';
import type { TemplateRecord, TemplateVersionRecord } from '#domain/template/record.ts';
import { template, templateRecord, templateVersionRecord } from '#domain/template/template.ts';
import type { JsonObject } from '#shared/json/json.ts';
import { Service } from '#test/support/harness/in-memory-service.ts';
import { payload, payloadFlow } from '#test/support/inputs/template-payload.ts';
import { itInRounds } from '#test/support/run/long.ts';

const everything = { limit: 1e6, maxBytes: 1e9 };

/** A step: the number of a command, and numbers that choose its input. */
const step = fc.record({ kind: fc.nat(9), first: fc.nat(3), second: fc.nat(3), text: fc.string({ maxLength: 3 }) });
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

/** The expected template and its versions. */
interface ModelTemplate {
  name: string;
  description: string | null;
  status: string;
  readonly versions: Array<{ readonly id: string; readonly tag: string | null; published: boolean }>;
}

/** Sends random commands, and keeps a model of the expected result. */
class RandomCommands {
  /** The clock advances with each call. */
  readonly service = new Service(undefined, { now: () => new Date(Date.UTC(2026, 0, 5) + this.#nextTime()) });
  readonly model = new Map<string, ModelTemplate>();

  #time = 0;

  #nextTime(): number {
    this.#time += 1000;
    return this.#time;
  }

  async take({ kind, first, second, text }: Step): Promise<void> {
    const ids = [...this.model.keys()];
    const templateId = ids[first % Math.max(1, ids.length)];
    const expected = templateId === undefined ? undefined : this.model.get(templateId);
    if (kind < 2 || templateId === undefined || expected === undefined) return this.#create(`n${text}`, text);
    const version = expected.versions[second % Math.max(1, expected.versions.length)];
    if (kind < 4)
      return this.#update(templateId, expected, second === 0 ? {} : { name: `n${text}`, description: text });
    if (kind < 7) return this.#addVersion(templateId, expected, second === 0 ? null : text);
    if (kind < 9) return version && this.#publish(expected, version);
    if (second === 0) {
      await this.service.ok(archiveTemplate, { templateId });
      expected.status = 'archived';
    }
  }

  async #create(name: string, description: string): Promise<void> {
    const { body } = await this.service.ok(createTemplate, {}, { body: { name, description } });
    this.model.set(String(body.id), { name, description, status: 'draft', versions: [] });
  }

  async #update(
    templateId: string,
    expected: ModelTemplate,
    change: { name?: string; description?: string },
  ): Promise<void> {
    await this.service.ok(updateTemplate, { templateId }, { body: change });
    Object.assign(expected, change);
  }

  async #addVersion(templateId: string, expected: ModelTemplate, tag: string | null): Promise<void> {
    const body = { tag, payload: payload({ flows: [payloadFlow({ flowSchema: tag })] }) };
    const answer = await this.service.send(createTemplateVersion, { templateId }, { body });
    if (expected.status === 'archived') return assertRefused(answer);
    assert.ok(E.isRight(answer), JSON.stringify(answer));
    const { id, version } = answer.right.body as JsonObject;
    expected.versions.push({ id: String(id), tag, published: false });
    assert.equal(version, expected.versions.length);
  }

  async #publish(expected: ModelTemplate, version: ModelTemplate['versions'][number]): Promise<void> {
    const answer = await this.service.send(publishTemplateVersion, { versionId: version.id });
    if (expected.status === 'archived') return assertRefused(answer);
    assert.ok(E.isRight(answer), JSON.stringify(answer));
    version.published = true;
    expected.status = 'published';
  }
}

function assertRefused(answer: Awaited<ReturnType<Service['send']>>): void {
  assert.equal(E.isLeft(answer) && answer.left.code, 'template-archived');
}

const shownIn = async <Record>({ documents }: Service, collection: string) =>
  (await documents.list(collection, {}, everything)).documents.map(
    ({ value }) => value as { readonly record: Record; readonly revision: number },
  );

describe('read models of templates', () => {
  itInRounds(
    'shows the templates that commands answer and a simple model predicts, after random commands',
    { few: 20, many: 300 },
    async (numRuns) => {
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 50 }), async (steps) => {
          const random = new RandomCommands();
          for (const each of steps) await random.take(each);
          const { service, model } = random;
          const templates = await shownIn<TemplateRecord>(service, 'templates');
          const versions = (await shownIn<TemplateVersionRecord>(service, 'template-versions')).map(
            (each) => each.record,
          );

          const expected = [...model].map(([id, { name, description, status }]) => ({ id, name, description, status }));
          const shown = templates.map(({ record: { id, name, description, status } }) => {
            return { id, name, description, status };
          });
          assert.deepEqual(shown, expected);
          for (const { record, revision } of templates) {
            const { state, resourceRevision } = await service.writer.load(template, record.id);
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

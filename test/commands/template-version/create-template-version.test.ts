import assert from 'node:assert/strict';
import * as E from 'fp-ts/lib/Either.js';
import { decodeInput } from '#application/operations/invoke.ts';
import { createTemplateVersion } from '#commands/template-version/create-template-version.ts';
import { newEvent } from '#domain/shared/event.ts';
import type { JsonObject } from '#shared/json/json.ts';
import {
  templateArchived,
  templateCreated,
  templateVersionCreated,
  templateVersionPublished,
} from '#test/support/events/template-events.ts';
import { ids, newIds } from '#test/support/events/tenants.ts';
import { inputOf } from '#test/support/harness/arbitrary-input.ts';
import { givenHistory } from '#test/support/harness/command-harness.ts';
import { bodyFaults, validBodies } from '#test/support/inputs/payload-faults.ts';
import { field, payload, payloadFlow, payloadProfile } from '#test/support/inputs/template-payload.ts';

const templateId = ids.template;
const input = { templateId, payload: payload(), fieldsSchema: [field()], tag: 'spring' };
const numbered = (version: number, change: JsonObject = {}) =>
  newEvent('TemplateVersionCreated', {
    ...{ id: templateId + newIds.suffix, templateId, version },
    ...{ tag: 'spring', payload: payload(), fieldsSchema: [field()], ...change },
  } as never);

const decode = (body: JsonObject) => decodeInput(createTemplateVersion.input, { ...body, templateId });

describe('create_template_version', () => {
  it('adds a template version with the next number', () => {
    givenHistory(templateCreated()).when(createTemplateVersion, input).then(numbered(1));
    givenHistory(templateCreated(), templateVersionCreated(1), templateVersionPublished(1), templateVersionCreated(2))
      .when(createTemplateVersion, input)
      .then(numbered(3));
  });

  it('creates a version without tag and fields when none are given, and treats a null tag as none', () => {
    const bare = { templateId, payload: payload() };
    const created = numbered(1, { tag: null, fieldsSchema: [] });
    givenHistory(templateCreated()).when(createTemplateVersion, bare).then(created);
    givenHistory(templateCreated())
      .when(createTemplateVersion, { ...bare, tag: null })
      .then(created);
  });

  it('refuses a version of an archived template', () => {
    givenHistory(templateCreated(), templateArchived()).when(createTemplateVersion, input).then('template-archived');
  });

  for (const members of [
    '{"__proto__":{"description":"x","outputVoiceId":7,"agentProfile":{},"helpText":1}}',
    '{"surprise":1,"__proto__":{"description":"x"},"hasOwnProperty":1,"constructor":{"a":1}}',
  ]) {
    it(`keeps documented members of typed objects and every member of flow schemas: ${members}`, () => {
      const more = JSON.parse(members);
      const flowSchema = JSON.parse('{"__proto__":{"a":1},"constructor":[1e21,-0.5],"hasOwnProperty":null}');
      const plain = {
        flows: [payloadFlow({ flowSchema })],
        agentProfile: payloadProfile(),
        knowledgeBases: [{ key: 'faq', name: 'Questions' }],
        integrations: [{ integrationTemplateId: 'cintegration0001' }],
        phoneNumberRequirements: [{ key: 'main', label: 'Main line' }],
      };
      const surprising = Object.entries(plain).map(([name, value]) => [
        name,
        Array.isArray(value) ? value.map((item) => ({ ...item, ...more })) : { ...value, ...more },
      ]);
      const sent = { payload: { ...Object.fromEntries(surprising), ...more }, fieldsSchema: [{ ...field(), ...more }] };
      const decoded = decode(JSON.parse(JSON.stringify(sent)));
      assert.ok(E.isRight(decoded), JSON.stringify(decoded));
      assert.equal(JSON.stringify(decoded.right.payload), JSON.stringify(plain));
      assert.deepEqual(decoded.right.fieldsSchema, [field()]);
      const { payload, fieldsSchema } = decoded.right;
      for (const each of [payload, ...Object.values(payload).flat(), ...(fieldsSchema ?? [])]) {
        assert.equal(Object.getPrototypeOf(each), Object.prototype);
      }
    });
  }

  describe('input of create_template_version', () => {
    const of = inputOf(createTemplateVersion, input);
    of.id('templateId');
    of.required('payload');
    of.optional('tag', undefined);
    of.text('tag', { min: 0, max: 100, orNull: true });
    of.optional('fieldsSchema', undefined);
    of.ignoresUnknown();

    for (const { what, body, pointers } of bodyFaults) {
      it(`refuses a body with ${what}`, () => {
        const decoded = decode(JSON.parse(JSON.stringify(body)));
        assert.ok(E.isLeft(decoded), 'it was accepted');
        assert.equal(decoded.left.code, 'invalid-input');
        assert.deepEqual(decoded.left.errors?.map(({ pointer }) => pointer).sort(), [...pointers].sort());
      });
    }

    for (const { what, body } of validBodies) {
      it(`accepts a body with ${what}`, () => {
        const sent = JSON.parse(JSON.stringify(body));
        const decoded = decode(sent);
        assert.ok(E.isRight(decoded), JSON.stringify(decoded));
        assert.deepEqual(decoded.right, { ...sent, templateId });
      });
    }

    it('refuses a body with a hundred thousand invalid items with 100 errors', () => {
      for (const name of ['flows', 'knowledgeBases', 'integrations', 'phoneNumberRequirements']) {
        const decoded = decode({ payload: payload({ [name]: Array.from({ length: 100_000 }, (_, index) => index) }) });
        assert.ok(E.isLeft(decoded));
        assert.equal(decoded.left.errors?.length, 100);
      }
      const flowSchema = Array.from({ length: 100_000 }, () => '{{fields.nobody}}');
      const decoded = decode({ payload: payload({ flows: [payloadFlow({ flowSchema })] }) });
      assert.ok(E.isLeft(decoded));
      assert.equal(decoded.left.errors?.length, 100);
    });
  });
});

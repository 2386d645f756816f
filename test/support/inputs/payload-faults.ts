import type { Json, JsonObject } from '#shared/json/json.ts';
import { field, payload, payloadFlow, payloadProfile } from './template-payload.ts';

/** A fault in the body of a new template version, and the pointers that the answer must contain. */
export interface BodyFault {
  readonly what: string;
  readonly body: JsonObject;
  readonly pointers: ReadonlyArray<string>;
}

const text = (length: number) => (length === 0 ? '' : `😀${'x'.repeat(length - 1)}`);
const shown = (value: Json | undefined) => (value === undefined ? 'nothing' : JSON.stringify(value).slice(0, 30));

/** One member of a body: a function that makes a body with a value there, and the member's pointer. */
interface Member {
  readonly pointer: string;
  readonly body: (value: Json | undefined) => JsonObject;
}

const member = (pointer: string, body: Member['body']): Member => ({ pointer, body });
const inPayload = (name: string, at: string, wrap: (value: JsonObject) => Json) => (key: string, sound: JsonObject) =>
  member(`/payload/${name}${at}/${key}`, (value) => ({
    payload: payload({ [name]: wrap({ ...sound, [key]: value }) }),
  }));

const ofFlow = inPayload('flows', '/1', (flow) => [payloadFlow({ key: 'other' }), flow]);
const ofProfile = inPayload('agentProfile', '', (profile) => profile);
const ofKnowledgeBase = inPayload('knowledgeBases', '/0', (base) => [base]);
const ofIntegration = inPayload('integrations', '/2', (integration) => [
  { integrationTemplateId: 'cintegration0001' },
  { integrationTemplateId: 'cintegration0001' },
  integration,
]);
const ofRequirement = inPayload('phoneNumberRequirements', '/0', (requirement) => [requirement]);
const ofField = (key: string, sound: JsonObject = field()) =>
  member(`/fieldsSchema/1/${key}`, (value) => ({
    payload: payload(),
    fieldsSchema: [field({ key: 'first' }), { ...sound, [key]: value }],
  }));

const base = { key: 'faq', name: 'Questions' };
const requirement = { key: 'main', label: 'Main line' };
const required = [undefined, null, 7, [], {}];
const notTexts = [null, 7, true, ['a'], { a: 'a' }];

/** Members by their bounds in the contract. */
const texts: ReadonlyArray<readonly [Member, { min: number; max: number; optional?: true }]> = [
  [ofFlow('key', payloadFlow()), { min: 1, max: 100 }],
  [ofFlow('name', payloadFlow()), { min: 1, max: 200 }],
  [ofProfile('name', payloadProfile()), { min: 1, max: 200 }],
  [ofKnowledgeBase('key', base), { min: 1, max: 100 }],
  [ofKnowledgeBase('name', base), { min: 1, max: 200 }],
  [ofKnowledgeBase('description', base), { min: 0, max: 2000, optional: true }],
  [ofRequirement('key', requirement), { min: 1, max: 100 }],
  [ofRequirement('label', requirement), { min: 1, max: 200 }],
  [ofRequirement('description', requirement), { min: 0, max: 2000, optional: true }],
  [ofField('label'), { min: 1, max: 200 }],
  [ofField('defaultValue'), { min: 0, max: 2000, optional: true }],
  [ofField('helpText'), { min: 0, max: 2000, optional: true }],
];

const choices: ReadonlyArray<readonly [Member, ReadonlyArray<string>]> = [
  [ofFlow('flowType', payloadFlow()), ['simple', 'graph']],
  [ofProfile('reasoningMode', payloadProfile()), ['fast', 'balanced', 'smart', 'turbo']],
  [ofField('type'), ['string', 'number', 'boolean']],
];

const lists: ReadonlyArray<readonly [Member, { atLeastOne?: true; optional?: true }]> = [
  [member('/payload/flows', (flows) => ({ payload: payload({ flows }) })), { atLeastOne: true }],
  [ofProfile('supportedInputLanguages', payloadProfile()), { atLeastOne: true }],
  ...['knowledgeBases', 'integrations', 'phoneNumberRequirements'].map(
    (name) =>
      [member(`/payload/${name}`, (value) => ({ payload: payload({ [name]: value }) })), { optional: true }] as const,
  ),
  [member('/fieldsSchema', (fieldsSchema) => ({ payload: payload(), fieldsSchema })), { optional: true }],
];

const one = ({ pointer, body }: Member, value: Json | undefined, below = ''): BodyFault => ({
  what: `${pointer}: ${shown(value)}`,
  body: body(value),
  pointers: [pointer + below],
});

const keyPattern = ['', '1a', 'a-b', 'a b', 'é', 'a.b', ' a', 'a\n'];
const unpaired = (name: string, items: ReadonlyArray<JsonObject>): BodyFault => ({
  what: `/payload/${name}: a key twice`,
  body: { payload: payload({ [name]: items }) },
  pointers: [`/payload/${name}/2/key`],
});
const placed = (flowSchema: Json, at: string, fieldsSchema?: Json): BodyFault => ({
  what: `a placeholder at ${at}`,
  body: { payload: payload({ flows: [payloadFlow(), payloadFlow({ key: 'b', flowSchema })] }), fieldsSchema },
  pointers: [`/payload/flows/1/flowSchema${at}`],
});
const fallback = (type: string, defaultValue: string): BodyFault =>
  one(ofField('defaultValue', field({ type, defaultValue })), defaultValue);

/** Bodies that must be refused, each for one reason. */
export const bodyFaults: ReadonlyArray<BodyFault> = [
  ...texts.flatMap(([at, { min, max, optional }]) => [
    one(at, text(max + 1)),
    ...(min > 0 ? [one(at, '')] : []),
    ...notTexts.map((value) => one(at, value)),
    ...(optional ? [] : [one(at, undefined)]),
  ]),
  ...choices.flatMap(([at, [first = '']]) => [...required, '', 'other', first.toUpperCase()].map((v) => one(at, v))),
  ...lists.flatMap(([at, { atLeastOne, optional }]) => [
    ...[null, {}, 'a', 7].map((value) => one(at, value)),
    ...(atLeastOne ? [one(at, [])] : []),
    ...(optional ? [] : [one(at, undefined)]),
    one(at, [null], '/0'),
    one(at, [7], '/0'),
  ]),
  one(ofFlow('flowSchema', payloadFlow()), undefined),
  ...[undefined, null, '', 'c12345', 'x1234567', 7].map((id) => one(ofIntegration('integrationTemplateId', {}), id)),
  one(ofProfile('supportedInputLanguages', payloadProfile()), ['en', 7], '/1'),
  ...notTexts.map((value) => one(ofProfile('outputVoiceId', payloadProfile()), value)),
  ...['', 'yes', 1, null, undefined].map((value) => one(ofField('required'), value)),
  ...[...keyPattern, ...required].map((value) => one(ofField('key'), value)),
  ...[undefined, null, 7, 'a', []].map((value) =>
    one(
      member('/payload', (v) => ({ payload: v })),
      value,
    ),
  ),
  ...[null, 'a', 7, []].map((value) =>
    one(
      member('/payload/agentProfile', (v) => ({ payload: payload({ agentProfile: v }) })),
      value,
    ),
  ),
  ...[text(101), 7, []].map((value) =>
    one(
      member('/tag', (tag) => ({ payload: payload(), tag })),
      value,
    ),
  ),
  unpaired(
    'flows',
    ['a', 'b', 'a'].map((key) => payloadFlow({ key })),
  ),
  unpaired(
    'knowledgeBases',
    ['a', 'b', 'a'].map((key) => ({ key, name: key })),
  ),
  unpaired(
    'phoneNumberRequirements',
    ['a', 'b', 'a'].map((key) => ({ key, label: key })),
  ),
  {
    what: '/fieldsSchema: a key twice',
    body: { payload: payload(), fieldsSchema: [field(), field({ key: 'b' }), field()] },
    pointers: ['/fieldsSchema/2/key'],
  },
  ...['', 'x', '1,5', '0x10', '1e999', ' 1', '01', '.5', '+1', 'NaN', 'Infinity'].map((v) => fallback('number', v)),
  ...['', 'yes', 'True', '1', 'false '].map((value) => fallback('boolean', value)),
  placed('{{fields.name}}', ''),
  placed({ 'a/b~': [{ say: 'Hi {{fields.name}}' }] }, '/a~1b~0/0/say'),
  placed({ a: 'Hi {{fields.name}}', b: '{{fields.Name}}' }, '/b', [field()]),
  {
    what: 'several faults at the same time',
    body: {
      tag: text(101),
      payload: { flows: [payloadFlow({ key: '', flowType: 'x' })], agentProfile: { name: 7 } },
      fieldsSchema: [field(), field({ required: 1 })],
    },
    pointers: [
      '/tag',
      '/payload/flows/0/key',
      '/payload/flows/0/flowType',
      '/payload/agentProfile/name',
      '/payload/agentProfile/reasoningMode',
      '/payload/agentProfile/supportedInputLanguages',
      '/fieldsSchema/1/required',
    ],
  },
];

/** Bodies exactly at the bounds, which must be accepted. */
export const validBodies: ReadonlyArray<{ readonly what: string; readonly body: JsonObject }> = [
  ...texts.flatMap(([at, { min, max, optional }]) =>
    [text(max), text(min), ...(optional ? [undefined] : [])].map((value) => ({
      what: `${at.pointer}: ${shown(value)}`,
      body: at.body(value),
    })),
  ),
  ...choices.flatMap(([at, values]) => values.map((v) => ({ what: `${at.pointer}: ${v}`, body: at.body(v) }))),
  ...lists
    .filter(([, { optional }]) => optional)
    .flatMap(([at]) => [[], undefined].map((v) => ({ what: `${at.pointer}: ${shown(v)}`, body: at.body(v) }))),
  ...[null, 0, '', false, [], 'text'].map((value) => ({
    what: `/payload/flows/1/flowSchema: ${shown(value)}`,
    body: ofFlow('flowSchema', payloadFlow()).body(value),
  })),
  ...['', text(100), null, undefined].map((tag) => ({
    what: `/tag: ${shown(tag)}`,
    body: { payload: payload(), tag },
  })),
  ...['a', '_', 'A_1', 'x'.repeat(500)].map((key) => ({
    what: `/fieldsSchema/1/key: ${key}`,
    body: ofField('key').body(key),
  })),
  ...['0', '-1.5e3', '12', '1E2', '-0'].map((value) => ({
    what: `a number by default: ${value}`,
    body: ofField('defaultValue', field({ type: 'number' })).body(value),
  })),
  ...['true', 'false'].map((value) => ({
    what: `a boolean by default: ${value}`,
    body: ofField('defaultValue', field({ type: 'boolean' })).body(value),
  })),
  { what: 'a payload of flows alone', body: { payload: { flows: [payloadFlow()] } } },
  {
    what: 'the same key in different lists',
    body: {
      payload: payload({
        flows: [payloadFlow({ key: 'name' })],
        knowledgeBases: [{ key: 'name', name: 'n' }],
        phoneNumberRequirements: [{ key: 'name', label: 'n' }],
      }),
      fieldsSchema: [field()],
    },
  },
  {
    what: 'placeholders of declared fields, escaped ones and other braces',
    body: {
      payload: payload({
        flows: [payloadFlow({ flowSchema: ['{{fields.name}}', '\\{{fields.no}}', '{{no}}', { '{{fields.no}}': 1 }] })],
      }),
      fieldsSchema: [field()],
    },
  },
];

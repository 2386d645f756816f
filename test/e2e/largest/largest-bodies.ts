import { maxUrlCharacters } from '#domain/webhook-endpoint/webhook-endpoint.ts';
import type { Json, JsonObject } from '#shared/json/json.ts';
import { below, jsonBytes, largestText, type Random, randomJson, randomText } from './random-values.ts';

/** The limits of a control-plane body, as docs/security.md states them. */
export const maxBodyBytes = 768 * 1024;
const maxBodyValues = 50_000;

/** The size of a body. */
export interface BodySize {
  readonly bytes: number;
  /** Maximum values in it. */
  readonly values: number;
}

/** Near the limits, with room for what an operation adds. */
export const largestSize: BodySize = { bytes: 0.97 * maxBodyBytes, values: 0.96 * maxBodyValues };

/** Fills a body whose other members have their values. @param left what is left for the member */
type Fill = (random: Random, left: BodySize) => JsonObject;

/** Returns the members with limits of their own, at their largest. */
type Members = (random: Random) => JsonObject;

/** The largest members of an operation's body, and the ones that fill what is left of it. */
interface LargestBody {
  readonly members?: Members;
  readonly fill?: Filling;
}

interface Filling {
  /** The members that it makes. */
  readonly of: ReadonlyArray<string>;
  readonly make: Fill;
}

/** A member that no operation knows. It is read and left out. */
const padding: Filling = {
  of: ['padding'],
  make: (random, left) => ({ padding: anyJson(random, left) }),
};

/** Many small values, some, or few long ones. */
function anyJson(random: Random, { bytes, values }: BodySize): Json[] {
  const parts = [1, 1, 0.2, 0.002];
  return randomJson(random, bytes, Math.max(20, Math.floor(values * (parts[below(random, 4)] ?? 1))));
}

function texts(random: Random, { bytes, values }: BodySize): string[] {
  const each = Math.max(12, Math.floor(bytes / (1 + below(random, values))));
  const found = ['en'];
  for (let left = bytes - 9; left > each + 3 && found.length < values; ) {
    const text = randomText(random, each);
    found.push(text);
    left -= jsonBytes(text) + 1;
  }
  return found;
}

const name: Members = (random) => ({ name: largestText(random, 200) });
const profile: Filling = {
  of: ['name', 'supportedInputLanguages', 'reasoningMode', 'outputVoiceId'],
  make: (random, { bytes, values }) => ({
    name: randomText(random, bytes / 4),
    supportedInputLanguages: texts(random, { bytes: bytes / 2, values }),
    reasoningMode: randomText(random, bytes / 8),
    outputVoiceId: randomText(random, bytes / 8),
  }),
};

/** The fields of the largest template. Their values fill an instance. */
export const templateFields = 400;
const fieldKey = (index: number) => `field_${index}`;
const maxDefaultValue = 200;

/** A payload of two flows, one of them full of placeholders, and fields with default values. */
const makeTemplate: Fill = (random, { bytes, values }) => {
  const placeholders = Array.from({ length: 200 }, () => `{{fields.${fieldKey(below(random, templateFields))}}}`);
  const fieldsSchema = Array.from({ length: templateFields }, (_, index) => ({
    key: fieldKey(index),
    label: largestText(random, 20),
    type: 'string',
    required: false,
    defaultValue: randomText(random, maxDefaultValue),
  }));
  const flow = (key: string, flowSchema: Json) => ({
    key,
    name: largestText(random, 200),
    flowType: 'simple',
    flowSchema,
  });
  const agentProfile = {
    name: largestText(random, 200),
    reasoningMode: 'fast',
    supportedInputLanguages: texts(random, { bytes: bytes / 16, values: values / 50 }),
    outputVoiceId: 'narrator',
  };
  const rest = bytes - jsonBytes(fieldsSchema) - jsonBytes(agentProfile) - jsonBytes(placeholders) - 3_000;
  const others = 6 * templateFields + placeholders.length + values / 50;
  const flows = [flow('filled', placeholders), flow('any', randomJson(random, rest, values - others))];
  const knowledgeBases = [{ key: 'faq', name: 'Questions', description: 'Answers' }];
  const phoneNumberRequirements = [{ key: 'main', label: 'Main line', description: 'Where people call' }];
  return { payload: { flows, agentProfile, knowledgeBases, phoneNumberRequirements }, fieldsSchema };
};

/** Values for the fields of the largest template. */
const values = (member: string): Filling => ({
  of: [member],
  make: (random, { bytes }) => {
    const each = bytes / templateFields - 24;
    const keys = Array.from({ length: templateFields }, (_, index) => fieldKey(index));
    return { [member]: Object.fromEntries(keys.map((key) => [key, randomText(random, each)])) };
  },
});

const metadata: Members = (random) => {
  const members = Array.from({ length: 16 }, (_, index) => [
    `${index}${largestText(random, 62)}`,
    largestText(random, 512),
  ]);
  return { metadata: Object.fromEntries(members) };
};

/** A type of event that this service never has, so that no endpoint is sent anything. It may be repeated. */
const rareType = 'ProcessEventSkipped';
const eventTypes: Filling = {
  of: ['eventTypes'],
  make: (random, { bytes }) => {
    const most = Math.floor(bytes / (rareType.length + 3));
    return { eventTypes: Array.from({ length: most - below(random, 100) }, () => rareType) };
  },
};
const endpoint: Members = (random) => ({ description: largestText(random, 1_000) });
const largestUrl = `https://127.0.0.1/${'u'.repeat(maxUrlCharacters - 18)}`;

const flowSchema: Filling = { of: ['flowSchema'], make: (random, left) => ({ flowSchema: anyJson(random, left) }) };

const bodies: Readonly<Record<string, LargestBody>> = {
  create_flow: {
    members: (random) => ({ ...name(random), description: largestText(random, 5_000) }),
    fill: flowSchema,
  },
  update_flow: { members: (random) => ({ ...name(random), description: largestText(random, 5_000) }) },
  create_flow_version: {
    members: (random) => ({ tag: largestText(random, 100) }),
    fill: flowSchema,
  },
  tag_flow_version: { members: (random) => ({ tag: largestText(random, 100) }) },
  create_phone_number: {
    members: name,
    fill: {
      of: ['externalPhoneFields'],
      make: (random, left) => ({ externalPhoneFields: { any: anyJson(random, left) } }),
    },
  },
  update_phone_number: { members: name },
  create_agent_profile: { fill: profile },
  replace_agent_profile: { fill: profile },
  create_template: { members: (random) => ({ ...name(random), description: largestText(random, 2_000) }) },
  update_template: { members: (random) => ({ ...name(random), description: largestText(random, 2_000) }) },
  create_template_version: {
    members: (random) => ({ tag: largestText(random, 100) }),
    fill: { of: ['payload', 'fieldsSchema'], make: makeTemplate },
  },
  create_instance: { members: name, fill: values('fieldValues') },
  upgrade_instance: { fill: values('newFieldValues') },
  create_project: { members: name },
  update_project: { members: name },
  create_organization: { members: name },
  create_customer: { members: name },
  create_api_key: { members: name },
  create_batch: { members: metadata },
  create_store: {
    fill: {
      of: ['name', 'description'],
      make: (random, { bytes }) => ({
        name: randomText(random, bytes / 2),
        description: randomText(random, bytes / 2),
      }),
    },
  },
  create_webhook_endpoint: {
    members: (random) => ({ ...endpoint(random), url: largestUrl }),
    fill: eventTypes,
  },
  update_webhook_endpoint: { members: endpoint, fill: eventTypes },
};

/**
 * Makes the body of a control-plane operation: its members at their limits, and up to the size a member without a
 * limit, or else one that the operation does not know.
 * @param given members that the operation needs as they are
 */
export function bodyOf(
  operation: string,
  random: Random,
  size: BodySize,
  { example, given }: { readonly example: JsonObject; readonly given: JsonObject },
): JsonObject {
  const { members, fill } = bodies[operation] ?? {};
  const named: JsonObject = { ...example, ...members?.(random), ...given };
  const filling = fill === undefined || fill.of.some((member) => member in given) ? padding : fill;
  const body = Object.fromEntries(Object.entries(named).filter(([member]) => !filling.of.includes(member)));
  const bytes = size.bytes - jsonBytes(body) - namesBytes * filling.of.length;
  if (bytes < leastFilling) return named;
  return { ...body, ...filling.make(random, { bytes, values: size.values - otherValues }) };
}

/** More than the bytes of a member's name. */
const namesBytes = 40;
/** Below it, a body is large enough without a filling. */
const leastFilling = 1_000;
/** More than the values of the members with limits. */
const otherValues = 200;

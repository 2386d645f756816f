import * as t from 'io-ts';
import { cuid } from '#domain/codecs/id.ts';
import { FlowType } from '#domain/flow/events.ts';
import { checked, type NestedIssue } from '#shared/codecs/checked.ts';
import { enumeration } from '#shared/codecs/choice.ts';
import { json } from '#shared/codecs/json-value.ts';
import { list } from '#shared/codecs/list.ts';
import { object } from '#shared/codecs/object.ts';
import { text, textLike } from '#shared/codecs/text.ts';
import { fieldTypes, fieldValueFault, placeholdersIn } from './placeholders.ts';

const key = text({ min: 1, max: 100 });
const title = text({ min: 1, max: 200 });
const longText = text({ max: 2000 });

const Flow = object({ key, name: title, flowType: FlowType, flowSchema: json }, {});

const AgentProfile = object(
  {
    name: title,
    reasoningMode: enumeration('ReasoningMode', 'fast', 'balanced', 'smart', 'turbo'),
    supportedInputLanguages: list(t.string, { min: 1 }),
  },
  { outputVoiceId: t.string },
);

const KnowledgeBase = object({ key, name: title }, { description: longText });
const Integration = object({ integrationTemplateId: cuid }, {});
const PhoneNumberRequirement = object({ key, label: title }, { description: longText });

/** What a template version creates (contract, "Body of POST /v1/templates/{templateId}/versions"). */
export const TemplatePayload = object(
  { flows: list(Flow, { min: 1, uniqueBy: 'key' }) },
  {
    agentProfile: AgentProfile,
    knowledgeBases: list(KnowledgeBase, { uniqueBy: 'key' }),
    integrations: list(Integration),
    phoneNumberRequirements: list(PhoneNumberRequirement, { uniqueBy: 'key' }),
  },
  'TemplatePayload',
);

export type TemplatePayload = t.TypeOf<typeof TemplatePayload>;

const Field = checked(
  object(
    {
      key: textLike(/^[a-zA-Z_][a-zA-Z0-9_]*$/),
      label: title,
      type: enumeration('TemplateFieldType', ...fieldTypes),
      required: t.boolean,
    },
    { defaultValue: longText, helpText: longText },
    'TemplateField',
  ),
  ({ type, defaultValue: value }) => {
    const message = value === undefined ? null : fieldValueFault(type, value);
    return message === null ? [] : [{ path: ['defaultValue'], value, message }];
  },
);

/** The fields that an instance fills in. */
export const FieldsSchema = list(Field, { uniqueBy: 'key' });

export type FieldsSchema = t.TypeOf<typeof FieldsSchema>;

/** Placeholders that name an unknown field. Their paths begin at the payload. */
export function undeclaredPlaceholders({ flows }: TemplatePayload, fieldsSchema: FieldsSchema): NestedIssue[] {
  const declared = new Set(fieldsSchema.map((field) => field.key));
  const faults: NestedIssue[] = [];
  for (const [index, { flowSchema }] of flows.entries()) {
    for (const { field, path } of placeholdersIn(flowSchema)) {
      if (declared.has(field)) continue;
      const message = `names the field "${field.slice(0, 100)}", which fieldsSchema does not have`;
      faults.push({ path: ['flows', String(index), 'flowSchema', ...path()], value: field, message });
      if (faults.length >= maxFaults) return faults;
    }
  }
  return faults;
}

/** Maximum number of faults in one response. */
const maxFaults = 100;

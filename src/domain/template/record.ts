import type * as t from 'io-ts';
import { cuid } from '#domain/codecs/id.ts';
import { timestamp } from '#domain/codecs/time.ts';
import { versionNumber } from '#domain/codecs/version-number.ts';
import { exampleIds, recordTimes } from '#domain/shared/examples.ts';
import { enumeration, nullable } from '#shared/codecs/choice.ts';
import { record } from '#shared/codecs/record.ts';
import { text } from '#shared/codecs/text.ts';
import { FieldsSchema, TemplatePayload } from './payload.ts';

export const TemplateStatus = enumeration('TemplateStatus', 'draft', 'published', 'archived');

/** See "Template" in the contract. */
export const TemplateRecord = record('Template', {
  id: [cuid, exampleIds.template],
  headlessIntegratorId: [cuid, exampleIds.organization],
  name: [text(), 'Dental practice'],
  description: [nullable(text()), 'Front desk of a practice'],
  status: [TemplateStatus, 'draft'],
  ...recordTimes,
});

export type TemplateRecord = t.TypeOf<typeof TemplateRecord>;

const examplePayload: TemplatePayload = {
  flows: [
    {
      key: 'welcome',
      name: 'Welcome',
      flowType: 'simple',
      flowSchema: { start: 'greet', nodes: { greet: { say: 'Welcome to {{fields.practice_name}}.', next: null } } },
    },
  ],
  agentProfile: {
    name: 'Receptionist',
    reasoningMode: 'balanced',
    supportedInputLanguages: ['en', 'de'],
    outputVoiceId: 'narrator',
  },
  knowledgeBases: [{ key: 'faq', name: 'Questions and answers', description: 'What patients ask most' }],
  integrations: [{ integrationTemplateId: exampleIds.integrationTemplate }],
  phoneNumberRequirements: [{ key: 'main', label: 'Main line', description: 'Where patients call' }],
};

const exampleFields: t.TypeOf<typeof FieldsSchema> = [
  { key: 'practice_name', label: 'Name of the practice', type: 'string', required: true },
  {
    key: 'max_minutes',
    label: 'Longest call in minutes',
    type: 'number',
    required: false,
    defaultValue: '10',
    helpText: 'Longer calls are handed over',
  },
];

/** See "Template version" in the contract. */
export const TemplateVersionRecord = record(
  'TemplateVersion',
  {
    id: [cuid, exampleIds.templateVersion],
    templateId: [cuid, exampleIds.template],
    version: [versionNumber, 1],
    tag: [nullable(text()), 'spring'],
    payload: [TemplatePayload, examplePayload],
    fieldsSchema: [FieldsSchema, exampleFields],
    publishedAt: [nullable(timestamp), null],
    ...recordTimes,
  },
  /** The version that it copies, if it is a copy. */
  { restoredFrom: cuid },
);

export type TemplateVersionRecord = t.TypeOf<typeof TemplateVersionRecord>;

import type { JsonObject } from '#shared/json/json.ts';

/** A field as templates declare one. */
export const field = (more: JsonObject = {}): JsonObject => ({
  key: 'name',
  label: 'Name',
  type: 'string',
  required: true,
  ...more,
});

/** A flow in a payload. */
export const payloadFlow = (more: JsonObject = {}): JsonObject => ({
  key: 'welcome',
  name: 'Welcome',
  flowType: 'simple',
  flowSchema: { say: 'Hello' },
  ...more,
});

/** An agent profile in a payload. */
export const payloadProfile = (more: JsonObject = {}): JsonObject => ({
  name: 'Desk',
  reasoningMode: 'fast',
  supportedInputLanguages: ['en'],
  ...more,
});

/** A payload with one item of every kind, each with all of its members. */
export const payload = (more: JsonObject = {}): JsonObject => ({
  flows: [payloadFlow()],
  agentProfile: payloadProfile({ outputVoiceId: 'narrator' }),
  knowledgeBases: [{ key: 'faq', name: 'Questions', description: 'Answers' }],
  integrations: [{ integrationTemplateId: 'cintegration0001' }],
  phoneNumberRequirements: [{ key: 'main', label: 'Main line', description: 'Where people call' }],
  ...more,
});

import type { JsonObject } from '#shared/json/json.ts';

/** The six members that a client sets of an agent profile, as `profileCreated` tells them. */
export const profileInput = (more: JsonObject): JsonObject => ({
  name: 'Receptionist',
  flowIds: [],
  isDefault: false,
  supportedInputLanguages: ['en', 'de'],
  reasoningMode: 'balanced',
  outputVoiceId: 'narrator',
  ...more,
});

import type { JsonObject } from '#shared/json/json.ts';

/** A client's input for an agent profile, with the contents of the event `profileCreated`. */
export const profileInput = (more: JsonObject): JsonObject => ({
  name: 'Receptionist',
  flowIds: [],
  isDefault: false,
  supportedInputLanguages: ['en', 'de'],
  reasoningMode: 'balanced',
  outputVoiceId: 'narrator',
  ...more,
});

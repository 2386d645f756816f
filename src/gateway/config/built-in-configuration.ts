import type { Json } from '#shared/json/json.ts';

/** The configuration without `GATEWAY_CONFIG`: the sandbox answers everything, so that a first run needs no account. */
export const builtInConfiguration: Json = {
  providers: { sandbox: { kind: 'sandbox', anyVoice: true } },
  models: { sandbox: { targets: [{ provider: 'sandbox', model: 'switchyard-sandbox' }] } },
  auto: {
    chat: { fast: 'sandbox', balanced: 'sandbox', smart: 'sandbox', turbo: 'sandbox' },
    transcription: 'sandbox',
  },
  voices: {
    sandbox: { provider: 'sandbox', voice: 'sandbox', model: 'switchyard-sandbox' },
    alloy: { provider: 'sandbox', voice: 'alloy', model: 'switchyard-sandbox' },
  },
};

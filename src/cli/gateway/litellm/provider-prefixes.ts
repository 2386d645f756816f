import { anthropic } from '#gateway/providers/anthropic.ts';
import { elevenLabs } from '#gateway/providers/elevenlabs.ts';
import { openAiCompatible } from '#gateway/providers/openai-compatible.ts';

/** What comes before a model's name in LiteLLM. */
export interface ProviderPrefix {
  readonly prefix: string;
  readonly kind: string;
  /** The base URL without `api_base`: null for the kind's own, undefined if `api_base` must be written. */
  readonly baseUrl: string | null | undefined;
  /** Converts an `api_base`. Missing if that is not possible. */
  readonly baseUrlOf?: (apiBase: string) => string;
  /** The variables that LiteLLM reads without `api_key`, in its order. */
  readonly keys: ReadonlyArray<string>;
  /** The name of the model; null if it is not certain. Missing if it is the same. */
  readonly modelOf?: (model: string) => string | null;
  /** The page that names the base URL. */
  readonly page: string;
}

const openAi = openAiCompatible.kind;
const same = (apiBase: string) => apiBase;

/** The prefixes that this release can serve. LiteLLM's own page on each is https://docs.litellm.ai/docs/providers */
export const providerPrefixes: ReadonlyArray<ProviderPrefix> = [
  {
    prefix: 'openai',
    kind: openAi,
    baseUrl: null,
    baseUrlOf: same,
    keys: ['OPENAI_API_KEY'],
    page: 'https://platform.openai.com/docs/api-reference/introduction',
  },
  {
    prefix: 'anthropic',
    kind: anthropic.kind,
    baseUrl: null,
    // LiteLLM appends /v1/messages, unless it is there.
    baseUrlOf: (apiBase) => `${apiBase.replace(/\/v1\/messages$/, '')}/v1`,
    keys: ['ANTHROPIC_API_KEY'],
    page: 'https://docs.anthropic.com/en/api/messages',
  },
  {
    prefix: 'openrouter',
    kind: openAi,
    baseUrl: 'https://openrouter.ai/api/v1',
    baseUrlOf: same,
    keys: ['OPENROUTER_API_KEY', 'OR_API_KEY'],
    page: 'https://openrouter.ai/docs/quickstart',
  },
  {
    prefix: 'deepseek',
    kind: openAi,
    baseUrl: 'https://api.deepseek.com',
    baseUrlOf: same,
    keys: ['DEEPSEEK_API_KEY'],
    page: 'https://api-docs.deepseek.com/',
  },
  {
    prefix: 'groq',
    kind: openAi,
    baseUrl: 'https://api.groq.com/openai/v1',
    baseUrlOf: same,
    keys: ['GROQ_API_KEY'],
    page: 'https://console.groq.com/docs/openai',
  },
  {
    prefix: 'mistral',
    kind: openAi,
    baseUrl: 'https://api.mistral.ai/v1',
    baseUrlOf: same,
    keys: ['MISTRAL_API_KEY'],
    page: 'https://docs.mistral.ai/api/',
  },
  {
    prefix: 'together_ai',
    kind: openAi,
    baseUrl: 'https://api.together.ai/v1',
    baseUrlOf: same,
    keys: ['TOGETHER_API_KEY', 'TOGETHER_AI_API_KEY', 'TOGETHERAI_API_KEY', 'TOGETHER_AI_TOKEN'],
    page: 'https://docs.together.ai/docs/inference/openai-compatibility',
  },
  {
    prefix: 'fireworks_ai',
    kind: openAi,
    baseUrl: 'https://api.fireworks.ai/inference/v1',
    baseUrlOf: same,
    keys: ['FIREWORKS_API_KEY', 'FIREWORKS_AI_API_KEY', 'FIREWORKSAI_API_KEY', 'FIREWORKS_AI_TOKEN'],
    modelOf: fireworksModel,
    page: 'https://docs.fireworks.ai/tools-sdks/openai-compatibility',
  },
  {
    prefix: 'xai',
    kind: openAi,
    baseUrl: 'https://api.x.ai/v1',
    baseUrlOf: same,
    keys: ['XAI_API_KEY'],
    page: 'https://docs.x.ai/docs/api-reference',
  },
  {
    prefix: 'perplexity',
    kind: openAi,
    baseUrl: 'https://api.perplexity.ai',
    baseUrlOf: same,
    keys: ['PERPLEXITYAI_API_KEY', 'PERPLEXITY_API_KEY'],
    page: 'https://docs.perplexity.ai/api-reference/chat-completions-post',
  },
  {
    prefix: 'cerebras',
    kind: openAi,
    baseUrl: 'https://api.cerebras.ai/v1',
    baseUrlOf: same,
    keys: ['CEREBRAS_API_KEY'],
    page: 'https://inference-docs.cerebras.ai/resources/openai',
  },
  {
    prefix: 'gemini',
    kind: openAi,
    // LiteLLM calls Gemini's own API; this release calls the same models at its OpenAI endpoint.
    baseUrl: 'https://generativelanguage.googleapis.com/v1beta/openai',
    keys: ['GEMINI_API_KEY', 'GOOGLE_API_KEY'],
    page: 'https://ai.google.dev/gemini-api/docs/openai',
  },
  {
    prefix: 'ollama_chat',
    kind: openAi,
    baseUrl: 'http://localhost:11434/v1',
    // LiteLLM calls Ollama's own API at the root.
    baseUrlOf: (apiBase) => `${apiBase}/v1`,
    keys: [],
    page: 'https://docs.ollama.com/api/openai-compatibility',
  },
  {
    prefix: 'ollama',
    kind: openAi,
    baseUrl: 'http://localhost:11434/v1',
    baseUrlOf: (apiBase) => `${apiBase}/v1`,
    keys: [],
    page: 'https://docs.ollama.com/api/openai-compatibility',
  },
  {
    prefix: 'hosted_vllm',
    kind: openAi,
    baseUrl: undefined,
    baseUrlOf: same,
    keys: [],
    page: 'https://docs.vllm.ai/en/latest/serving/openai_compatible_server.html',
  },
  {
    prefix: 'lm_studio',
    kind: openAi,
    baseUrl: undefined,
    baseUrlOf: same,
    keys: [],
    page: 'https://lmstudio.ai/docs/developer/openai-compat',
  },
  {
    prefix: 'elevenlabs',
    kind: elevenLabs.kind,
    baseUrl: null,
    keys: ['ELEVENLABS_API_KEY'],
    page: 'https://elevenlabs.io/docs/api-reference/introduction',
  },
];

/** LiteLLM completes a short name. One that ends with `-fast` means something else in some of its versions. */
function fireworksModel(model: string): string | null {
  if (model.startsWith('accounts/') || model.includes('#')) return model;
  return model.endsWith('-fast') ? null : `accounts/fireworks/models/${model}`;
}

/** Providers that LiteLLM knows, and for which this import has no kind. */
export const providersWithoutKind: ReadonlyArray<string> = [
  'azure',
  'azure_ai',
  'azure_text',
  'bedrock',
  'bedrock_converse',
  'sagemaker',
  'sagemaker_chat',
  'vertex_ai',
  'vertex_ai_beta',
  'cohere',
  'cohere_chat',
  'huggingface',
  'replicate',
  'watsonx',
  'databricks',
  'snowflake',
  'oci',
  'text-completion-openai',
];

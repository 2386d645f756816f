import type { IncomingHttpHeaders } from 'node:http';
import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import {
  get,
  post,
  remove,
  type StreamingOperation,
  type StreamingRequest,
  type StreamReport,
} from '#application/operations/operation.ts';
import type { FailureCode } from '#domain/shared/failure.ts';
import { anthropicErrors, type ErrorForm, openAiErrors, openAiResponsesErrors } from '#exchange/error-form.ts';
import { anthropicMessages } from '#gateway/protocols/anthropic-messages/anthropic-messages.ts';
import { openAiChat } from '#gateway/protocols/openai-chat/openai-chat.ts';
import { reasoningHints } from '#gateway/protocols/protocol.ts';
import { enumeration, nullable } from '#shared/codecs/choice.ts';
import { withJsonSchema } from '#shared/codecs/json-schema.ts';
import { json, jsonObject } from '#shared/codecs/json-value.ts';
import { integer } from '#shared/codecs/number.ts';
import { createSpeech } from './audio/create-speech.ts';
import { createTranscription } from './audio/create-transcription.ts';
import type { Gateway } from './gateway.ts';
import {
  answeredHere,
  type CallResult,
  catalogueFailure,
  type GatewayCall,
  type GatewayLimits,
  runCall,
} from './gateway-call.ts';
import { anthropicModel, anthropicModelList, modelList, modelNamed } from './model-list.ts';
import { cancelResponse, deleteResponse, getResponse, listInputItems } from './responses/read-responses.ts';
import { relayResponse } from './responses/relay-response.ts';
import { relayText, type TextEndpoint } from './text/relay-text.ts';
import { countTokens } from './whole/count-tokens.ts';
import { embeddings } from './whole/embeddings.ts';
import { relayWhole } from './whole/relay-whole.ts';

const Message = withJsonSchema(t.type({ role: t.string }), {
  type: 'object',
  properties: {
    role: { type: 'string' },
    content: { anyOf: [{ type: 'string' }, { type: 'array', items: {} }, { type: 'null' }] },
  },
  required: ['role'],
  additionalProperties: true,
});

/** Only `auto` reads the hint. Any other model gets the value unchanged. */
const Reasoning = withJsonSchema(nullable(json), {
  description: `With the model auto one of ${reasoningHints.join(', ')}; with another model it is passed on as it is`,
  examples: ['fast'],
});

/** The members that the gateway checks; a provider may send others. */
const ChatCompletion = t.intersection(
  [
    t.type({ choices: t.array(jsonObject) }),
    t.partial({ id: t.string, object: t.string, created: t.number, model: t.string, usage: nullable(jsonObject) }),
  ],
  'ChatCompletion',
);

/** What a target costs: for a million tokens, for a million characters of speech, for a minute of audio. */
const TargetPrice = t.type({
  target: t.string,
  price: nullable(
    t.partial({
      inputPerMillion: t.number,
      outputPerMillion: t.number,
      cachedInputPerMillion: t.number,
      cacheWritePerMillion: t.number,
      perMillionCharacters: t.number,
      perMinute: t.number,
    }),
  ),
});

const Model = t.intersection(
  [
    t.type({
      id: t.string,
      object: t.literal('model'),
      created: integer(0, Number.MAX_SAFE_INTEGER),
      owned_by: t.string,
    }),
    /** Only for keys of the types `admin` and `partner`. */
    t.partial({ pricing: t.type({ currency: t.string, targets: t.readonlyArray(TargetPrice) }) }),
  ],
  'Model',
);
const exampleModel = { id: 'gpt-large', object: 'model', created: 1_767_225_600, owned_by: 'openai' };

/** A file in a multipart body. */
const binary = withJsonSchema(new t.Type<unknown>('binary', (_): _ is unknown => true, t.success, t.identity), {
  type: 'string',
  format: 'binary',
});

const relayFailures: ReadonlyArray<FailureCode> = [
  'body-too-slow',
  'model-not-found',
  'rate-limited',
  'too-many-calls',
  'no-provider',
  'provider-failed',
  'provider-key-refused',
  'provider-reset',
  'provider-malformed',
  'provider-unfinished',
  'provider-too-large',
  'provider-unreachable',
  'provider-overloaded',
  'provider-timeout',
];

/** Those of files that a request names. */
const fileFailures: ReadonlyArray<FailureCode> = ['too-many-files', 'file-not-found', 'scope-required', 'unavailable'];

const common = {
  kind: 'streaming',
  plane: 'gateway',
  group: 'Gateway',
  paged: false,
  hasRevision: false,
  consumes: 'application/json',
  produces: [],
} as const;

const chatCompletion = {
  ...common,
  name: 'complete_chat',
  summary: 'Complete a chat',
  description:
    'As OpenAI’s. `model` is a tag of the catalogue, or `auto`, which picks one by `reasoning`. A `file_id` in `file` names a file of this project, needs `files:read` and is sent inside the call. Every other member is passed on as it is.',
  scope: 'gateway:write',
  http: post('/v1/chat/completions'),
  input: t.intersection([
    t.type({ model: t.string, messages: t.array(Message) }),
    t.partial({ stream: nullable(t.boolean), reasoning: Reasoning }),
  ]),
  output: ChatCompletion,
  produces: ['text/event-stream'],
  failures: [...relayFailures, 'unsupported-by-target', 'provider-resource-not-found', ...fileFailures],
  example: {
    input: { model: 'auto', reasoning: 'fast', messages: [{ role: 'user', content: 'Hello' }] },
    output: {
      id: 'chatcmpl-1',
      object: 'chat.completion',
      created: 1_767_225_600,
      model: 'gpt-4.1',
      choices: [{ index: 0, message: { role: 'assistant', content: 'Hello!' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 },
    },
  },
} as const;

const Response = t.intersection(
  [
    t.type({ output: t.array(jsonObject) }),
    t.partial({
      id: t.string,
      object: t.literal('response'),
      created_at: t.number,
      status: t.string,
      model: t.string,
      store: t.boolean,
      previous_response_id: nullable(t.string),
      usage: nullable(jsonObject),
    }),
  ],
  'Response',
);

const exampleResponse = {
  id: 'resp_1',
  object: 'response',
  created_at: 1_767_225_600,
  status: 'completed',
  model: 'gpt-4.1',
  output: [
    {
      id: 'msg_1',
      type: 'message',
      status: 'completed',
      role: 'assistant',
      content: [{ type: 'output_text', annotations: [], text: 'Hello!' }],
    },
  ],
  store: true,
  previous_response_id: null,
  usage: { input_tokens: 1, output_tokens: 2, total_tokens: 3 },
} as const;

const responsesErrors = () => openAiResponsesErrors;
const ofConversations = { ...common, group: 'Responses', scope: 'gateway:write', errorForm: responsesErrors } as const;

const responseCreation = {
  ...ofConversations,
  name: 'create_response',
  summary: 'Create a response',
  description:
    'As OpenAI’s, on any model: `model` is a tag of the catalogue, or `auto`. The response and its items are stored for this project, for 30 days, unless `store` is false; `previous_response_id` continues it on any model. The provider never stores it, unless it makes it in the background (`background`, only on a target with `hostedTools`). A `file_id` names a file of this project and needs `files:read`.',
  http: post('/v1/responses'),
  input: t.intersection([
    t.type({ model: t.string }),
    t.partial({
      input: t.union([t.string, t.array(jsonObject)]),
      instructions: nullable(t.string),
      previous_response_id: nullable(t.string),
      store: nullable(t.boolean),
      stream: nullable(t.boolean),
      background: nullable(t.boolean),
      tools: t.array(jsonObject),
      max_output_tokens: nullable(integer(1, Number.MAX_SAFE_INTEGER)),
    }),
  ]),
  output: Response,
  produces: ['text/event-stream'],
  failures: [
    ...relayFailures,
    'unsupported-by-target',
    'provider-resource-not-found',
    'response-not-found',
    'response-not-finished',
    'conversation-too-long',
    'response-item-not-found',
    ...fileFailures,
  ],
  example: { input: { model: 'auto', input: 'Hello' }, output: exampleResponse },
} as const;

/** Those of a response that is made in the background, which its provider is asked for. */
const backgroundFailures: ReadonlyArray<FailureCode> = relayFailures.filter(
  (code) => code !== 'body-too-slow' && code !== 'model-not-found',
);

const responseId = { responseId: t.string };

const responseReading = {
  ...ofConversations,
  name: 'get_response',
  summary: 'Get a stored response',
  description:
    'With `stream=true` as the stream of its events, after `starting_after` where it is given. One that is made in the background is the provider’s until it is finished; its end is stored when it is first read.',
  http: get('/v1/responses/:responseId'),
  input: t.intersection([t.type(responseId), t.partial({ stream: t.boolean, starting_after: integer(0, 1e9) })]),
  output: Response,
  produces: ['text/event-stream'],
  failures: ['response-not-found', 'unavailable', ...backgroundFailures],
  example: { output: exampleResponse },
} as const;

const inputItems = {
  ...ofConversations,
  name: 'list_response_input_items',
  summary: 'List the input items of a stored response',
  description: 'Those of the turns before it too. The newest come first, unless `order` is `asc`.',
  http: get('/v1/responses/:responseId/input_items'),
  input: t.intersection([
    t.type(responseId),
    t.partial({ limit: integer(1, 100), order: enumeration('ItemOrder', 'asc', 'desc'), after: t.string }),
  ]),
  output: t.type(
    {
      object: t.literal('list'),
      data: t.array(jsonObject),
      first_id: nullable(t.string),
      last_id: nullable(t.string),
      has_more: t.boolean,
    },
    'ResponseItemList',
  ),
  failures: ['response-not-found', 'body-too-large', 'unavailable'],
  example: {
    output: {
      object: 'list',
      data: [
        {
          id: 'msg_0',
          type: 'message',
          status: 'completed',
          role: 'user',
          content: [{ type: 'input_text', text: 'Hello' }],
        },
      ],
      first_id: 'msg_0',
      last_id: 'msg_0',
      has_more: false,
    },
  },
} as const;

const responseDeletion = {
  ...ofConversations,
  name: 'delete_response',
  summary: 'Delete a stored response',
  description:
    'Its items are removed at once, or with the last response that needs them. The provider deletes one that it still makes in the background.',
  http: remove('/v1/responses/:responseId', 200),
  input: t.type(responseId),
  output: t.type({ id: t.string, object: t.literal('response'), deleted: t.literal(true) }, 'DeletedResponse'),
  failures: ['response-not-found', 'unavailable', ...backgroundFailures],
  example: { output: { id: 'resp_1', object: 'response', deleted: true } },
} as const;

const responseCancelling = {
  ...ofConversations,
  name: 'cancel_response',
  summary: 'Cancel a response that is made in the background',
  description: 'One that has ended stays as it is. One that was not asked for with `background` is refused.',
  http: post('/v1/responses/:responseId/cancel'),
  input: t.type(responseId),
  output: Response,
  failures: ['response-not-found', 'response-not-in-background', 'unavailable', ...backgroundFailures],
  example: { output: exampleResponse },
} as const;

/** A text, or blocks of a type with members of their own. */
const blocks = t.union([t.string, t.array(jsonObject)]);

const messagesInput = {
  model: t.string,
  messages: t.array(t.type({ role: t.string, content: blocks })),
};

const optionalOfMessages = t.partial({ system: blocks, tools: t.array(jsonObject), tool_choice: jsonObject });

const MessageAnswer = t.intersection(
  [
    t.type({ content: t.array(jsonObject) }),
    t.partial({
      id: t.string,
      type: t.literal('message'),
      role: t.literal('assistant'),
      model: t.string,
      stop_reason: nullable(t.string),
      stop_sequence: nullable(t.string),
      usage: jsonObject,
    }),
  ],
  'MessageAnswer',
);

const messages = {
  ...common,
  name: 'create_message',
  summary: 'Create a message',
  description:
    'As Anthropic’s, on any model: `model` is a tag of the catalogue, or `auto`. A target that speaks this protocol gets every other member as it is. For another target the request is translated; `X-Switchyard-Ignored` names what it does not get.',
  scope: 'gateway:write',
  http: post('/v1/messages'),
  input: t.intersection([
    t.type({ ...messagesInput, max_tokens: integer(1, Number.MAX_SAFE_INTEGER) }),
    optionalOfMessages,
    t.partial({ stream: nullable(t.boolean), thinking: jsonObject, metadata: jsonObject }),
  ]),
  output: MessageAnswer,
  produces: ['text/event-stream'],
  failures: [...relayFailures, 'unsupported-by-target', 'provider-resource-not-found', 'too-many-files'],
  errorForm: () => anthropicErrors,
  example: {
    input: { model: 'auto', max_tokens: 1_024, messages: [{ role: 'user', content: 'Hello' }] },
    output: {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'claude-sonnet-4-5',
      content: [{ type: 'text', text: 'Hello!' }],
      stop_reason: 'end_turn',
      stop_sequence: null,
      usage: { input_tokens: 1, output_tokens: 2 },
    },
  },
} as const;

const tokenCount = {
  ...common,
  name: 'count_message_tokens',
  summary: 'Count the tokens of a message',
  description:
    'As Anthropic’s. A target that cannot count gets an estimate of the gateway, which `X-Switchyard-Estimated: true` marks.',
  scope: 'gateway:write',
  http: post('/v1/messages/count_tokens'),
  input: t.intersection([t.type(messagesInput), optionalOfMessages]),
  output: t.type({ input_tokens: integer(0, Number.MAX_SAFE_INTEGER) }, 'TokenCount'),
  failures: [...relayFailures, 'provider-resource-not-found', 'too-many-files'],
  errorForm: () => anthropicErrors,
  example: {
    input: { model: 'auto', messages: [{ role: 'user', content: 'Hello' }] },
    output: { input_tokens: 8 },
  },
} as const;

const token = integer(0, Number.MAX_SAFE_INTEGER);

/** A text or tokens, or a list of these. */
const embeddingInput = t.union([
  t.string,
  t.readonlyArray(t.string),
  t.readonlyArray(token),
  t.readonlyArray(t.readonlyArray(token)),
]);

const Embeddings = t.intersection(
  [
    t.type({ data: t.array(jsonObject) }),
    t.partial({ object: t.string, model: t.string, usage: nullable(jsonObject) }),
  ],
  'Embeddings',
);

const embedding = {
  ...common,
  name: 'create_embeddings',
  summary: 'Embed texts',
  description:
    'As OpenAI’s. `model` is a tag of the catalogue, or `auto`. Only targets whose vectors can be compared are asked: the first one, those with the same model, and those that the configuration calls `interchangeable`.',
  scope: 'gateway:write',
  http: post('/v1/embeddings'),
  input: t.intersection([
    t.type({ model: t.string, input: embeddingInput }),
    t.partial({ dimensions: nullable(integer(1, 1_000_000)), encoding_format: nullable(t.string) }),
  ]),
  output: Embeddings,
  failures: relayFailures,
  example: {
    input: { model: 'auto', input: 'When do you open?' },
    output: {
      object: 'list',
      data: [{ object: 'embedding', index: 0, embedding: [0.6, -0.8] }],
      model: 'text-embedding-3-small',
      usage: { prompt_tokens: 4, total_tokens: 4 },
    },
  },
} as const;

const speech = {
  ...common,
  name: 'create_speech',
  summary: 'Speak a text',
  description:
    'As OpenAI’s. `voice` is an entry of the configuration, by its name or id, or an object with that id; without `model`, or with `auto`, the voice brings its own. Every other member is passed on as it is.',
  scope: 'gateway:write',
  http: post('/v1/audio/speech'),
  input: t.intersection([
    t.type({ input: t.string, voice: t.union([t.string, t.type({ id: t.string })]) }),
    t.partial({
      model: nullable(t.string),
      response_format: nullable(t.string),
      speed: nullable(t.number),
      stream: nullable(t.boolean),
    }),
  ]),
  output: null,
  produces: ['audio/*', 'text/event-stream'],
  failures: relayFailures,
  example: { input: { input: 'Hello', voice: 'alloy' } },
} as const;

const transcription = {
  ...common,
  name: 'create_transcription',
  summary: 'Transcribe audio',
  description:
    'As OpenAI’s. `model` is a tag of the catalogue, or `auto`. Every other field is passed on as it is. Text formats come as text.',
  scope: 'gateway:write',
  http: post('/v1/audio/transcriptions'),
  consumes: 'multipart/form-data',
  input: t.intersection([
    t.type({ file: binary, model: t.string }),
    t.partial({ language: t.string, response_format: t.string }),
  ]),
  output: t.type({ text: t.string }, 'Transcription'),
  produces: ['text/plain', 'text/vtt', 'text/event-stream'],
  failures: relayFailures,
  example: {
    input: { file: 'speech.mp3', model: 'auto', language: 'en', response_format: 'json' },
    output: { text: 'Hello' },
  },
} as const;

/** Models are listed in Anthropic's form for its clients, which always name a version. */
const formOfModels = (headers: IncomingHttpHeaders): ErrorForm =>
  headers['anthropic-version'] === undefined ? openAiErrors : anthropicErrors;

const modelListing = {
  ...common,
  name: 'list_models',
  summary: 'List models',
  description:
    'The tags of the catalogue, and `auto`. For `admin` and `partner` keys with the prices of their targets. In Anthropic’s form for a request with `anthropic-version`.',
  scope: 'gateway:read',
  http: get('/v1/models'),
  input: t.type({}),
  output: t.type({ object: t.literal('list'), data: t.array(Model) }, 'ModelList'),
  failures: [],
  errorForm: formOfModels,
  example: { output: { object: 'list', data: [exampleModel] } },
} as const;

const singleModel = {
  ...common,
  name: 'get_model',
  summary: 'Get a model',
  description: 'One of the list, by its tag. A slash in a tag is written `%2F`.',
  scope: 'gateway:read',
  http: get('/v1/models/:model'),
  input: t.type({ model: t.string }),
  output: Model,
  failures: ['model-not-found'],
  errorForm: formOfModels,
  example: { output: exampleModel },
} as const;

/**
 * The gateway's calls as operations.
 * @param gateway null on a node without the role `gateway`, which only documents them
 */
export function gatewayOperations(gateway: Gateway | null, limits: GatewayLimits): ReadonlyArray<StreamingOperation> {
  const answering =
    (
      answer: (call: GatewayCall) => Promise<CallResult>,
      errorForm: (headers: IncomingHttpHeaders) => ErrorForm = () => openAiErrors,
    ) =>
    (request: StreamingRequest): Promise<StreamReport> => {
      if (gateway === null) throw new Error('This node does not have the role gateway.');
      return runCall(gateway, limits, request, answer, errorForm(request.headers));
    };
  const answeringText = (endpoint: TextEndpoint) =>
    answering(
      (call) => relayText(endpoint, call, limits),
      () => endpoint.protocol.client.errors,
    );
  return [
    {
      ...chatCompletion,
      relay: answeringText({ operation: 'chat', protocol: openAiChat }),
    },
    {
      ...messages,
      relay: answeringText({ operation: 'messages', protocol: anthropicMessages }),
    },
    {
      ...responseCreation,
      relay: answering((call) => relayResponse(call, limits), responsesErrors),
    },
    { ...responseReading, relay: answering(getResponse, responsesErrors) },
    { ...inputItems, relay: answering((call) => listInputItems(call, limits), responsesErrors) },
    { ...responseDeletion, relay: answering(deleteResponse, responsesErrors) },
    { ...responseCancelling, relay: answering(cancelResponse, responsesErrors) },
    {
      ...tokenCount,
      relay: answering((call) => relayWhole(countTokens, call, limits), tokenCount.errorForm),
    },
    {
      ...embedding,
      relay: answering((call) => relayWhole(embeddings, call, limits)),
    },
    {
      ...speech,
      relay: answering((call) => createSpeech(call, limits)),
    },
    {
      ...transcription,
      relay: answering((call) => createTranscription(call, limits)),
    },
    {
      ...modelListing,
      relay: answering(async ({ response, configuration, caller, errors }) => {
        const isAnthropics = errors === anthropicErrors;
        const list = isAnthropics ? anthropicModelList(configuration) : modelList(configuration, caller);
        response.send(200, ['Content-Type', 'application/json'], JSON.stringify(list));
        return answeredHere;
      }, formOfModels),
    },
    {
      ...singleModel,
      relay: answering(async ({ response, configuration, caller, errors, parameters: { model = '' } }) => {
        const isAnthropics = errors === anthropicErrors;
        const found = isAnthropics ? anthropicModel(configuration, model) : modelNamed(configuration, model, caller);
        if (found === null) return E.left(catalogueFailure({ kind: 'unknown-model', model }));
        response.send(200, ['Content-Type', 'application/json'], JSON.stringify(found));
        return answeredHere;
      }, formOfModels),
    },
  ];
}

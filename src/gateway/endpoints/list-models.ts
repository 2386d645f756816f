import * as t from 'io-ts';
import { get } from '#application/operations/operation.ts';
import { anthropicErrors } from '#exchange/error-form.ts';
import { answeredHere } from '#gateway/gateway-call.ts';
import { localEndpoint } from './endpoint.ts';
import { anthropicModelList, exampleModel, formOfModels, Model, modelList } from './models.ts';

export const listModels = localEndpoint({
  about: {
    name: 'list_models',
    summary: 'List models',
    description:
      'The tags of the catalogue, and `auto`. For `admin` and `partner` keys with the prices of their targets. In Anthropic’s form for a request with `anthropic-version`.',
    group: 'Gateway',
    example: { output: { object: 'list', data: [exampleModel] } },
  },
  http: get('/v1/models'),
  access: { scope: 'gateway:read' },
  input: t.type({}),
  output: t.type({ object: t.literal('list'), data: t.array(Model) }, 'ModelList'),
  failures: [],
  errors: formOfModels,
  answer: async ({ client, configuration, caller, errors }) => {
    const isAnthropics = errors === anthropicErrors;
    const list = isAnthropics ? anthropicModelList(configuration) : modelList(configuration, caller);
    client.send(200, ['Content-Type', 'application/json'], JSON.stringify(list));
    return answeredHere;
  },
});

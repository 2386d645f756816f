import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { get } from '#application/operations/operation.ts';
import { anthropicErrors } from '#exchange/error-form.ts';
import { answeredHere, catalogueFailure } from '#gateway/gateway-call.ts';
import { localEndpoint } from './endpoint.ts';
import { anthropicModel, exampleModel, formOfModels, Model, modelNamed } from './models.ts';

export const getModel = localEndpoint({
  about: {
    name: 'get_model',
    summary: 'Get a model',
    description: 'One of the list, by its tag. A slash in a tag is written `%2F`.',
    group: 'Gateway',
    example: { output: exampleModel },
  },
  http: get('/v1/models/:model'),
  access: { scope: 'gateway:read' },
  input: t.type({ model: t.string }),
  output: Model,
  failures: ['model-not-found'],
  errors: formOfModels,
  answer: async ({ client, configuration, caller, errors, parameters: { model = '' } }) => {
    const isAnthropics = errors === anthropicErrors;
    const found = isAnthropics ? anthropicModel(configuration, model) : modelNamed(configuration, model, caller);
    if (found === null) return E.left(catalogueFailure({ kind: 'unknown-model', model }));
    client.send(200, ['Content-Type', 'application/json'], JSON.stringify(found));
    return answeredHere;
  },
});

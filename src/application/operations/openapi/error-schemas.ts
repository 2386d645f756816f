import { failures } from '#domain/shared/failure.ts';
import type { JsonObject } from '#shared/json/json.ts';

const errorObjectSchema: JsonObject = {
  type: 'object',
  properties: {
    message: { type: 'string' },
    type: { type: 'string' },
    param: { type: ['string', 'null'] },
    code: { type: ['string', 'null'] },
  },
  required: ['message', 'type', 'param', 'code'],
};

const problemSchema: JsonObject = {
  type: 'object',
  description: 'Problem details (RFC 9457)',
  properties: {
    type: { type: 'string', format: 'uri-reference' },
    title: { type: 'string' },
    status: { type: 'integer' },
    detail: { type: 'string' },
    instance: { type: 'string', format: 'uri-reference' },
    code: { type: 'string', enum: Object.keys(failures) },
    requestId: { type: 'string' },
    errors: {
      type: 'array',
      items: { $ref: '#/components/schemas/InputError' },
    },
    error: {
      $ref: '#/components/schemas/ErrorObject',
      description: 'The same for clients of the gateway, for operations that they use too',
    },
  },
  required: ['type', 'title', 'status', 'detail', 'code'],
};

const gatewayErrorSchema: JsonObject = {
  type: 'object',
  properties: {
    error: { $ref: '#/components/schemas/ErrorObject' },
    detail: {
      type: 'array',
      description: 'For invalid input (422)',
      items: { $ref: '#/components/schemas/ValidationError' },
    },
  },
  required: ['error'],
};

const inputErrorSchema: JsonObject = {
  type: 'object',
  properties: {
    pointer: { type: 'string', description: 'JSON pointer (RFC 6901) to the member' },
    parameter: { type: 'string', description: 'The query parameter, if the fault is not in the body' },
    message: { type: 'string' },
  },
  required: ['pointer', 'message'],
};

const validationErrorSchema: JsonObject = {
  type: 'object',
  properties: {
    loc: { type: 'array', items: { type: ['string', 'integer'] } },
    msg: { type: 'string' },
    type: { type: 'string' },
    input: {},
    ctx: { type: 'object' },
  },
  required: ['loc', 'msg', 'type'],
};

/** The schemas of the errors of both planes, by name. */
export const errorSchemas: Readonly<Record<string, JsonObject>> = {
  Problem: problemSchema,
  InputError: inputErrorSchema,
  GatewayError: gatewayErrorSchema,
  ErrorObject: errorObjectSchema,
  ValidationError: validationErrorSchema,
};

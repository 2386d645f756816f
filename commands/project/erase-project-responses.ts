import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { command } from '#application/commands/command.ts';
import { remove } from '#application/operations/operation.ts';
import { cuid } from '#domain/codecs/id.ts';
import { project } from '#domain/project/project.ts';
import { newEvent } from '#domain/shared/event.ts';

export const eraseProjectResponses = command({
  about: {
    name: 'erase_project_responses',
    summary: 'Erase all stored responses of a project permanently',
    description:
      'The key that seals their items is destroyed, so that no copy of them can be read any more. Responses that are made later are stored again.',
    group: 'Responses',
    example: {},
  },
  http: remove('/v1/projects/:projectId/responses', 204),
  access: { scope: 'gateway:write', subject: { entity: project, parameter: 'projectId' } },
  input: t.type({ projectId: cuid }),
  output: null,
  failures: ['project-not-found'],
  entity: project,
  decide: ({ projectId: id }) => E.right([newEvent('ProjectResponsesErased', { id })]),
  answer: () => null,
});

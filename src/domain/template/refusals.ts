import { failure } from '#domain/shared/failure.ts';

/** Nothing new comes of an archived template. */
export const archived = failure(
  'template-archived',
  'The template is archived, which cannot be undone. Use another template.',
);

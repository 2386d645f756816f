import { failure } from '#domain/shared/failure.ts';

/** The refusal of new versions and instances of an archived template. */
export const archived = failure(
  'template-archived',
  'The template is archived, which cannot be undone. Use another template.',
);

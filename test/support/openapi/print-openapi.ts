import { openApiDocument } from '#application/openapi/openapi.ts';
import { allOperations } from './all-operations.ts';

// Prints the specification, for tools that check it.
process.stdout.write(`${JSON.stringify(openApiDocument(allOperations(), '0.5.0'), null, 2)}\n`);

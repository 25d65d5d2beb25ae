import { writeFile } from 'node:fs/promises';
import { referenceDocument } from '../api/reference.ts';

const FILE = 'docs/openapi.json';

await writeFile(FILE, `${JSON.stringify(referenceDocument(), null, 2)}\n`);
console.log(`wrote ${FILE}`);

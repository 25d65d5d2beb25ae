import type { z } from 'zod';
import { DocumentColumnsInput } from '../../contracts/document-columns.ts';
import { COLUMN_TYPES } from '../../contracts/process-batch.ts';

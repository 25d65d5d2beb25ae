import { exitWhenParentDies } from './parent-watch.ts';

// Loaded with `--import` ahead of a main file that knows nothing of who started it.
exitWhenParentDies();

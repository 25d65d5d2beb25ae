import { getDocumentProxy } from 'unpdf';

interface Word {
  text: string;
  left: number;
  right: number;
  bottom: number;
  size: number;
}

/** Parts of a line are told apart by gaps as wide as its letters are high. */
const CELL_GAP = 0.8;
const WORD_GAP = 0.12;

/**
 * The text of each page as one reads it: from top to bottom, what stands at one height on one line, with two spaces where
 * there is a gap as between the cells of a table. No pages for what is no PDF, or an encrypted one.
 */
export async function pdfPages(bytes: Uint8Array): Promise<string[]> {
  const pdf = await getDocumentProxy(Uint8Array.from(bytes), { verbosity: 0 }).catch(() => undefined);
  if (pdf === undefined) return [];
  try {
    const pages: string[] = [];
    for (let number = 1; number <= pdf.numPages; number += 1) {
      const { items } = await (await pdf.getPage(number)).getTextContent();
      const words = items.flatMap((item) => ('str' in item && item.str.trim() !== '' ? [toWord(item)] : []));
      pages.push(linesOf(words).map(lineText).join('\n'));
    }
    return pages;
  } catch {
    return [];
  } finally {
    await pdf.loadingTask.destroy();
  }
}

function toWord({ str, transform, width }: { str: string; transform: unknown[]; width: number }): Word {
  const [, , b = 0, d = 0, left = 0, bottom = 0] = transform.map(Number);
  return { text: str, left, right: left + width, bottom, size: Math.hypot(b, d) || 1 };
}

function linesOf(words: readonly Word[]): Word[][] {
  const lines: Word[][] = [];
  for (const word of words.toSorted((one, other) => other.bottom - one.bottom)) {
    const line = lines.at(-1);
    const first = line?.[0];
    if (first !== undefined && first.bottom - word.bottom < first.size / 2) line?.push(word);
    else lines.push([word]);
  }
  return lines;
}

function lineText(line: readonly Word[]): string {
  let text = '';
  let right = Number.NaN;
  for (const word of line.toSorted((one, other) => one.left - other.left)) {
    const gap = (word.left - right) / word.size;
    if (gap > CELL_GAP) text += '  ';
    else if (gap > WORD_GAP) text += ' ';
    text += word.text;
    right = word.right;
  }
  return text;
}

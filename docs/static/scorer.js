// Ranks what the search finds: tutorials and how-to pages before reference pages, and these before lists of them.
// A result is [page, title, anchor, description, score, file, kind].
const FIRST = /^(tutorials|guides)\/|^(index|quickstart|concepts|explanation|own_table|logs|boxes|cluster|optuna|tuner|agents|environments)$/;
const LAST = /^generated\/(?!gallery)|^(genindex|py-modindex|changes)$/;

var Scorer = {
  score: ([page, , , , score]) => score + (FIRST.test(page) ? 30 : LAST.test(page) ? -30 : 0),
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};

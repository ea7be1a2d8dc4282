/* The site's search: pages in the language of the page that the reader is on, each once, the best first.

   The index (hooks.py) is a script, so that the search works on pages that are read from a folder, too; it is loaded when the search
   is opened. It lists for each page its sections. A word of the query counts most in the page's title, then in a section's heading,
   then in its text. A page is as good as its best section, and a section that lacks a word counts little. */
(() => {
  const script = document.currentScript, box = document.getElementById('mkdocs-search-query');
  const results = document.getElementById('mkdocs-search-results');
  const language = address => /\.zh\.html$/.test(address) ? 'zh' : 'en';
  const here = language(location.pathname);

  // A word is found where one begins, so "limit" is in "limits". Chinese has no spaces: there any place will do.
  const pattern = word => new RegExp((/^[\x20-\x7f]+$/.test(word) ? '(?<![\\p{L}\\p{N}])' : '') + word, 'giu');
  const words = query => query.toLowerCase().match(/[\p{L}\p{N}_]+/gu) || [];
  const count = (text, word) => (text.match(word) || []).length;

  function rate(page, section, terms, phrase) {
    let sum = 0, missing = 0;
    for (const word of terms) {
      const found = count(section.text, word);
      const points = (count(page.title, word) ? 8 : 0) + (count(section.title, word) ? 6 : 0) + (found ? 1 + Math.log2(found) / 2 : 0);
      if (points === 0) missing++;
      sum += points;
    }
    if (terms.length > 1) sum += count(section.title, phrase) ? 6 : count(section.text, phrase) ? 4 : 0;
    return missing ? sum * 0.2 / missing : sum;
  }

  function best(page, terms, phrase) {
    const rated = page.sections.map(section => ({page, section, score: rate(page, section, terms, phrase)}));
    return rated.reduce((a, b) => b.score > a.score ? b : a);
  }

  function around(text, terms) {
    const at = Math.min(...terms.map(word => text.search(word)).filter(place => place >= 0), text.length);
    const begin = Math.max(0, text.lastIndexOf(' ', Math.max(0, at - 60)));
    return text.slice(begin, begin + 200);
  }

  function hit({page, section}, terms) {
    const article = document.createElement('article'), link = document.createElement('a'), text = document.createElement('p');
    link.href = script.dataset.base + '/' + section.location;
    link.textContent = section.title === page.title ? page.title : page.title + ': ' + section.title;
    text.textContent = around(section.text, terms);
    article.append(link, text);
    return article;
  }

  function search() {
    const found = words(box.value);
    if (!window.searchIndex || found.length === 0) return results.replaceChildren();
    const terms = found.map(pattern), phrase = pattern(found.join('[^\\p{L}\\p{N}]+'));
    const hits = window.searchIndex.filter(page => language(page.sections[0].location.split('#')[0]) === here)
      .map(page => best(page, terms, phrase)).filter(one => one.score > 0).sort((a, b) => b.score - a.score);
    results.replaceChildren(...hits.slice(0, 12).map(one => hit(one, terms)));
    if (hits.length === 0) results.textContent = results.dataset.noResultsText;
  }

  function load() {
    const index = document.createElement('script');
    index.src = script.dataset.index;
    index.onload = search;
    document.head.append(index);
  }

  const modal = document.getElementById('mkdocs_search_modal');
  modal.addEventListener('show.bs.modal', load, {once: true});
  box.form.addEventListener('submit', event => event.preventDefault());
  box.addEventListener('input', search);
})();

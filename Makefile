# make book      set up, then build the book (open _build/html/index.html)
# make test      set up, then check style, run the library's tests and every page
# make page      run one page: make page PAGE=book/ch2_shallow_linear/digits.md
# make lab       after make book, open its notebooks, in copies that are yours (_build/lab)
# make pdf       the book on paper, with LaTeX, after make book (_build/latex/book.pdf; book-short.pdf
#                leaves out the ledger and the list of the library's functions)
# make reproduce run the published notebooks again and compare every output (KERNELS=other: with the
#                arithmetic of an older processor; TENTH=n: a tenth)
# make paper     the experiments at the sources' scale, where they are not stored: FIGURE=figure-2-3
#                for one, FRESH=1 to compute it anyway, JOBS=2 for two settings at once,
#                BACKEND=dask SCHEDULER=tcp://host:8786 on a cluster
# make restamp   record today's code in the stored runs whose prefix test it passes (FIGURE=...)
# make sabotage  break each claim on purpose and see its card turn red (CLAIM=id or PAGE=... for one)
# make errors    plant N=60 errors that a program makes in each page: do its cards see them? (SEED,
#                PAGE=... for one, ONLY="frozen|zero" for some)
# make knobs     turn the knobs of each page, and run its cells twice (PAGE=... for one)
# make rounding  run pages as machines that round otherwise, and name the rows that hang on it
#                (PAGE=..., TENTH=n, KERNELS="Haswell Zen" or all, JITTER="1 2 3")
# make spread    measure how far other arithmetic takes the stored runs and the tables of pages, which
#                tests tolerate (FIGURE=... for one, or tables; SECONDS=100 of whole settings)
# make bench     ratios of speed, measured in one run (TABLE=Equalizers for one table)
# make small-book  write down what the pages of a small book say, built as the book is, which
#                make test compares: after a change of lib/booksite that is meant
# make test-site check every built page in headless Chromium (TENTH=n: axe judges a tenth)
# make test-links  ask other sites whether the book's links to them still lead somewhere
# make pictures  write the pictures of the README as the first page draws them
# make test-notebooks run the downloaded notebooks (TENTH=n: a tenth) in an empty folder, with the
#                library from its wheel
# make test-recipe  follow "Add a claim" of CONTRIBUTING.md in a copy, and leave out each step once
# make lighthouse judge a page of each kind, as on a phone (PAGE=back/ledger.html for one, RUNS=3 for
#                the middle of three); needs Node's npx, which fetches Lighthouse
# make test-agreement compare the attacks with foolbox and torchattacks
# make test-convex  check Theorems 3.A, S.D, Proposition 5.A, ReLU networks with a convex solver
# make test-newest  build the book, and test what builds it, with the newest Sphinx and its extensions
# make test-dask run a sweep on a Dask cluster of two workers
# make test-settings  compute a whole setting of every stored run again, another one each day (SEED;
#                LIMIT=100: of those runs whose settings took at most 100 seconds)
# make test-data load the real data sets from $HEURISTICS_DATA
# make coursework   the assignments: _build/coursework/student and _build/coursework/instructor
# make coursework TERM=2027a   the same in other conventions, picked by the name of the term
# make grade     marks and feedback for a folder of submissions: SUBMISSIONS=folder (ASSIGNMENT=name,
#                DUE="2027-05-03 18:00")
# make test-coursework  right answers, wrong answers, hostile submissions, and no leak
# make pins      write the exact versions of what the requirements name, in constraints.txt: those that
#                it has as far as they still serve, with UPGRADE=1 the newest
# make mutants   plant N=200 random errors in the library, and in what reads the assignments: do the
#                tests see them? (SEED, MODULE, OUT)
PYTHON ?= python3
BIN := .venv/bin
LAB := .venv/share/jupyter/lab/settings
ASK_NOBODY := {"@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": false}}
TOOL := PYTHONPATH=lib:tests $(BIN)/python -m tools
PAPER := $(BIN)/python -m runproofs.reproductions $(FIGURE)
OTHER_KERNELS := OPENBLAS_CORETYPE=Sandybridge ATEN_CPU_CAPABILITY=default
NEWEST := _build/newest
OF_SPHINX := sphinx myst-parser myst-nb sphinx-book-theme sphinx-proof sphinx-exercise sphinx-design \
  sphinx-copybutton sphinx-togglebutton sphinx-external-toc sphinxcontrib-bibtex
LATEX := texlive-xetex texlive-fonts-recommended latexmk fonts-lmodern fonts-dejavu-core
export OMP_NUM_THREADS ?= 1
export MPLCONFIGDIR ?= $(CURDIR)/.venv/matplotlib
export JUPYTER_PREFER_ENV_PATH := 1
ifneq (,$(filter C POSIX,$(LC_ALL)))  # whose letters are too few for the path of some folders
export LC_ALL := C.UTF-8
endif

.PHONY: book test page lint lab pdf reproduce paper restamp sabotage errors knobs rounding spread bench small-book test-site test-links test-newest test-agreement test-convex test-dask test-settings test-data coursework grade test-coursework mutants pins clean pictures test-notebooks test-recipe lighthouse

book: .venv/.done
	@# After an unfinished build Sphinx would not repeat the warnings of pages it has read.
	@test -e _build/.complete || rm -rf _build/.doctrees
	@rm -f _build/.complete
	$(BIN)/jupyter-book build -q -W -n --keep-going .

test: .venv/.done
	$(BIN)/python tests/tools/run_tests.py

page: .venv/.done
	$(if $(wildcard $(PAGE)),,$(error Name a page that exists: make page PAGE=book/ch2_shallow_linear/digits.md))
	$(BIN)/pytest --nbval-lax --nbval-current-env --nbval-cell-timeout=120 $(PAGE)

lint: .venv/.done
	$(BIN)/python tests/tools/run_tests.py style

lab: $(LAB)/overrides.json
	@# Also where a row is red, which its notebook shows.
	-@$(MAKE) --no-print-directory book
	$(BIN)/python -m booksite
	$(BIN)/jupyter lab $(if $(filter 0,$(shell id -u)),--allow-root) _build/lab/index.ipynb

pdf: .latex book
	$(BIN)/jupyter-book build --builder latex -W -n --keep-going .
	@# -g: also where nothing has changed since a run that failed, for a package that was missing.
	cd _build/latex && latexmk -g -pdfxe -silent -interaction=nonstopmode book.tex
	cd _build/latex && latexmk -g -pdfxe -silent -interaction=nonstopmode -jobname=book-short \
	  -usepretex='\def\shortedition{}' book.tex
	$(BIN)/python tests/tools/pdf.py
	@echo "The book on paper: _build/latex/book.pdf, without ledger and library book-short.pdf"

.PHONY: .latex
.latex:
	@command -v xelatex > /dev/null && command -v latexmk > /dev/null && \
	  kpsewhich latinmodern-math.otf DejaVuSans.ttf pzdr.tfm > /dev/null || \
	  { echo "LaTeX is missing; on Debian: apt install $(LATEX)"; exit 1; }

reproduce: book
	$(if $(KERNELS),$(OTHER_KERNELS)) $(TOOL).reproduce \
	  book _build/jupyter_execute/book _build/html $(if $(TENTH),--tenth $(TENTH))

paper: .venv/.done $(if $(filter dask,$(BACKEND)),.venv/.dask)
	$(PAPER) $(if $(FRESH),--fresh) --jobs $(or $(JOBS),1) $(if $(BACKEND),--backend $(BACKEND)) \
	  $(if $(SCHEDULER),--scheduler $(SCHEDULER))

sabotage: .venv/.done
	$(BIN)/python -m runproofs.book.saboteur $(if $(CLAIM),--claim $(CLAIM)) $(if $(PAGE),--page $(PAGE)) \
	  $(if $(TENTH),--tenth $(TENTH))

errors: .venv/.done
	$(TOOL).errors $(PAGE) -n $(or $(N),60) --seed $(or $(SEED),0) $(if $(ONLY),--only "$(ONLY)") $(if $(TENTH),--tenth $(TENTH))

knobs: .venv/.done
	MPLBACKEND=agg $(BIN)/python -m runproofs.book.knobs $(PAGE) $(if $(TENTH),--tenth $(TENTH))

rounding: KERNELS ?= all
rounding: JITTER ?= 1 2 3
rounding: .venv/.done
	$(TOOL).rounding $(PAGE) --kernels $(KERNELS) --jitter $(JITTER) $(if $(TENTH),--tenth $(TENTH))

restamp: .venv/.done
	$(PAPER) --restamp

spread: .venv/.done
	$(TOOL).spread $(FIGURE) $(if $(SECONDS),--seconds $(SECONDS))

bench: .venv/.done
	$(BIN)/python benchmarks/run.py $(TABLE)

small-book: .venv/.done
	PYTHONPATH=lib:tests $(BIN)/python tests/booksite/test_small_book.py

test-site: .venv/.site $(LAB)/overrides.json book
	$(BIN)/pytest -n 2 tests/browser $(if $(TENTH),--tenth $(TENTH))

test-links: .venv/.done
	$(BIN)/jupyter-book build --builder linkcheck .

pictures: book
	$(BIN)/python tests/browser/readme_pictures.py _build/jupyter_execute/book/index.ipynb

test-notebooks: .venv/.done book
	$(if $(TENTH),TENTH=$(TENTH)) $(BIN)/pytest -n 2 tests/optional/test_downloads.py

test-recipe: .venv/.done
	$(BIN)/pytest -n 2 tests/optional/test_recipe.py

lighthouse: book
	$(BIN)/python tests/tools/lighthouse.py $(PAGE) --runs $(or $(RUNS),1)

test-newest: .venv/.pins book
	rm -rf $(NEWEST)
	$(BIN)/uv pip install -q --python $(BIN)/python --target $(NEWEST) $(OF_SPHINX)
	PYTHONPATH=$(CURDIR)/$(NEWEST) $(BIN)/pytest tests/booksite
	$(BIN)/jupyter-book config sphinx .
	PYTHONPATH=$(CURDIR)/$(NEWEST) $(BIN)/python -m sphinx -q -W -n --keep-going \
	  -D nb_execution_cache_path=$(CURDIR)/_build/.jupyter_cache . $(NEWEST)/html; \
	  status=$$?; rm conf.py; exit $$status

test-agreement: .venv/.agreement
	$(BIN)/pytest tests/optional/test_agreement.py

test-convex: .venv/.convex
	$(BIN)/pytest tests/optional/test_convex.py

test-dask: .venv/.dask
	$(BIN)/pytest tests/optional/test_dask.py

test-settings: .venv/.done
	$(if $(SEED),SEED=$(SEED)) $(if $(LIMIT),LIMIT=$(LIMIT)) $(BIN)/pytest -n 2 tests/optional/test_settings.py

test-data: .venv/.done
	$(BIN)/pytest tests/optional/test_real_data.py tests/reproductions/test_prefix.py

coursework: .venv/.coursework
	@rm -rf _build/coursework/wheel
	$(BIN)/python -m hatchling build -t wheel -d _build/coursework/wheel
	$(BIN)/python -m coursework.tools.assign --wheel _build/coursework/wheel/*.whl$(if $(filter command,$(origin TERM)), --term "$(TERM)")

grade: .submissions .venv/.coursework
	$(BIN)/python -m coursework.tools.grade "$(SUBMISSIONS)" $(if $(ASSIGNMENT),--assignment $(ASSIGNMENT)) \
	  $(if $(DUE),--due "$(DUE)")

.PHONY: .submissions
.submissions:   # before anything is installed
	$(if $(SUBMISSIONS),,$(error Name a folder of submissions: make grade SUBMISSIONS=folder))

test-coursework: coursework
	$(BIN)/pytest -rs -n 2 --dist worksteal coursework/tests

pins: .venv/.pins
	$(BIN)/uv pip compile -q --universal --python-version 3.11.5 --no-emit-package runproofs \
	  --annotation-style line --custom-compile-command "make pins" $(if $(UPGRADE),--upgrade) \
	  requirements*.txt -o constraints.txt

clean:   # all but the copies that make lab opened, which are the reader's
	rm -rf $(filter-out _build/lab,$(wildcard _build/* _build/.[a-z]*))

.venv/.done: requirements.txt constraints.txt pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11, 5) and "Python 3.11.5 or newer is needed; name one with make PYTHON=...")'
	@echo "Setting up .venv: 1.6 GB, with PyTorch for NVIDIA's GPUs several more; some minutes."
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --disable-pip-version-check -q -r requirements.txt -c constraints.txt
	@# Matplotlib makes its list of fonts once; where that is slow, it says so on a page.
	$(BIN)/python -c "import matplotlib.font_manager"
	@touch $@

.venv/.%: requirements-%.txt .venv/.done
	$(BIN)/pip install --disable-pip-version-check -q $(if $(filter agreement,$*),--no-deps) -r $< -c constraints.txt
	@touch $@

.venv/.coursework: requirements-site.txt

$(LAB)/overrides.json: .venv/.lab
	@mkdir -p $(LAB) && echo '$(ASK_NOBODY)' > $@

mutants: N ?= 200
mutants: SEED ?= 0
mutants: JOBS ?= 2
mutants: .venv/.done
	$(TOOL).mutants $(N) --seed $(SEED) --jobs $(JOBS) --module "$(MODULE)" --out "$(OUT)"

# make book      set up, then build the book (open _build/html/index.html)
# make test      set up, then check style, run the library's tests and every page
# make page      run a page, break it, sweep its parameters: PAGE=book/ch2_shallow_linear/digits.md
# make lint      style alone
# make lab       after make book, open its notebooks, in copies that are yours (_build/lab)
# make pdf       after make book, print it: _build/book.pdf
# make reproduce run the published notebooks again and compare every output (KERNELS=other: with the
#                arithmetic of an older processor; TENTH=n: a tenth)
# make paper     the experiments at the sources' scale, where they are not stored: FIGURE=figure-2-3
#                for one, FRESH=1 to compute it anyway, JOBS=2 for two settings at once,
#                BACKEND=dask SCHEDULER=tcp://host:8786 on a cluster
# make bench     ratios of speed, measured in one run (TABLE=Equalizers for one table)
# make test-site check every built page in headless Chromium (TENTH=n: a tenth of them)
# make coursework   the assignments: _build/coursework/student and _build/coursework/instructor
#                (TERM=2027a: in other conventions, picked by the name of the term)
# make grade     marks and feedback for a folder of submissions: SUBMISSIONS=folder (ASSIGNMENT=name,
#                DUE="2027-05-03 18:00", ANONYMOUS=1: codes for names on the pages to mark by hand)
# make test-coursework  right answers, wrong answers, hostile submissions, and no leak (TENTH=n: a
#                tenth of the cases where they are many)
# What else maintainers run: .venv/bin/python -m booktools
PYTHON ?= python3
BIN := .venv/bin
LAB := .venv/share/jupyter/lab/settings
ASK_NOBODY := {"@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": false}}
TOOL := $(BIN)/python -m booktools
TENTHS := $(if $(TENTH),--tenth $(TENTH))
PIP := $(BIN)/pip install --disable-pip-version-check -q -c constraints.txt
export OMP_NUM_THREADS ?= 1
export MPLCONFIGDIR ?= $(CURDIR)/.venv/matplotlib
export JUPYTER_PREFER_ENV_PATH := 1
ifneq (,$(filter C POSIX,$(LC_ALL)))  # whose letters are too few for the path of some folders
export LC_ALL := C.UTF-8
endif

.PHONY: book test page lint lab pdf reproduce paper bench test-site coursework grade test-coursework clean

book: .venv/.done
	@# After an unfinished build Sphinx would not repeat the warnings of pages it has read.
	@test -e _build/.complete || rm -rf _build/.doctrees
	@rm -f _build/.complete
	$(BIN)/jupyter-book build -q -W -n --keep-going .

test: .venv/.done
	$(TOOL) test

page: .venv/.done
	$(if $(wildcard $(PAGE)),,$(error Name a page that exists: make page PAGE=book/ch2_shallow_linear/digits.md))
	$(TOOL) page $(PAGE)

lint: .venv/.done
	$(TOOL) test style

lab: $(LAB)/overrides.json
	@# Also where a row is red, which its notebook shows.
	-@$(MAKE) --no-print-directory book
	$(BIN)/python -m booksite
	$(BIN)/jupyter lab $(if $(filter 0,$(shell id -u)),--allow-root) _build/lab/index.ipynb

pdf: .venv/.site book
	$(TOOL) pdf

reproduce: book
	$(if $(KERNELS),OPENBLAS_CORETYPE=Sandybridge ATEN_CPU_CAPABILITY=default) $(TOOL) check-outputs $(TENTHS)

paper: .venv/.done $(if $(filter dask,$(BACKEND)),.venv/.dask)
	$(BIN)/python -m runproofs.experiments $(FIGURE) $(if $(FRESH),--fresh) --jobs $(or $(JOBS),1) \
	  $(if $(BACKEND),--backend $(BACKEND)) $(if $(SCHEDULER),--scheduler $(SCHEDULER))

bench: .venv/.done
	$(BIN)/python tests/benchmarks/run.py $(TABLE)

test-site: .venv/.site $(LAB)/overrides.json book
	$(BIN)/pytest -n 2 -p booktools.tenth tests/browser $(TENTHS)

coursework: .venv/.course
	@rm -rf _build/coursework/wheel
	$(BIN)/python -m hatchling build -t wheel -d _build/coursework/wheel
	$(BIN)/python -m coursework.tools.assign --wheel _build/coursework/wheel/*.whl$(if $(filter command,$(origin TERM)), --term "$(TERM)")

grade: .venv/.course
	$(if $(SUBMISSIONS),,$(error Name a folder of submissions: make grade SUBMISSIONS=folder))
	$(BIN)/armslength-grade "$(SUBMISSIONS)" --trees _build/coursework --library runproofs \
	  $(if $(ASSIGNMENT),--assignment $(ASSIGNMENT)) $(if $(DUE),--due "$(DUE)") \
	  $(if $(ANONYMOUS),--anonymous)

test-coursework: coursework
	$(BIN)/pytest -rs -n 2 --dist worksteal -p booktools.tenth coursework/tests $(TENTHS)

clean:   # all but the copies that make lab opened, which are the reader's
	rm -rf $(filter-out _build/lab,$(wildcard _build/* _build/.[a-z]*))

.venv/.done: requirements.txt constraints.txt pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11, 5) and "Python 3.11.5 or newer is needed; name one with make PYTHON=...")'
	@echo "Setting up .venv: 1.6 GB, with PyTorch for NVIDIA's GPUs several more; some minutes."
	$(PYTHON) -m venv .venv
	$(PIP) -r requirements.txt
	@# Matplotlib makes its list of fonts once; where that is slow, it says so on a page.
	$(BIN)/python -c "import matplotlib.font_manager"
	@touch $@

.venv/.%: .venv/.done   # an extra of pyproject.toml
	$(PIP) -e ".[$*]" $(and $(filter course,$*),-e coursework/grader)
	@touch $@

.venv/.course: coursework/grader/pyproject.toml

$(LAB)/overrides.json: .venv/.lab
	@mkdir -p $(LAB) && echo '$(ASK_NOBODY)' > $@
